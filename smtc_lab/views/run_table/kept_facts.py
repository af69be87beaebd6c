"""Facts of runs that have ended, kept beside them, so that ten thousand are there at once."""

from __future__ import annotations

import contextlib
import json
import os
from typing import TYPE_CHECKING

from pydantic_core import from_json

from smtc_lab.errors import UnsafeFileError
from smtc_lab.machine.beneath import MIB, read_beneath
from smtc_lab.store.identity.notes import FILE as NOTES
from smtc_lab.store.run_folder import JOB_NAME
from smtc_lab.version import __version__

if TYPE_CHECKING:
    from pathlib import Path

    from smtc_lab.views.run_table.facts import Facts

FILE = ".facts.jsonl"
"""Name of the file, in the folder of runs. May be deleted: it is made again."""

_MOST_BYTES = 256 * MIB
_LEAST_STALE = 1_000
_KINDS = {str, int, float, bool, type(None)}


class KeptFacts:
    """One line for each: its name, what changes with its state, its facts. The last one counts.

    A folder that cannot be written keeps nothing. Lines of another version, or damaged ones,
    count as not there.

    Args:
        root: Folder of runs.
    """

    def __init__(self, root: Path) -> None:
        self._root, self._path = root, root / FILE
        self._found: dict[str, tuple[str, Facts]] = {}
        self._new: list[str] = []
        self._num_lines = 0
        with contextlib.suppress(OSError, ValueError, UnsafeFileError):
            for line in read_beneath(root, self._path, most_bytes=_MOST_BYTES).splitlines():
                self._num_lines += 1
                self._take(line)

    def of(self, path: Path) -> Facts | None:
        """Return the facts of a run or a study that has not changed; None: there are none."""
        stamp, facts = self._found.get(_key(path), ("", {}))
        return facts if stamp and stamp == _stamp(str(path)) else None

    def runs(self) -> dict[str, Facts]:
        """Return the facts of all runs that have not changed, by name."""
        begin, beside = f"{self._root.name}/", str(self._root)
        named = {
            key.removeprefix(begin): told
            for key, told in self._found.items()
            if key.startswith(begin)
        }
        return {
            name: facts
            for name, (stamp, facts) in named.items()
            # the file may be somebody else's
            if JOB_NAME.fullmatch(name) and stamp and stamp == _stamp(f"{beside}/{name}")
        }

    def keep(self, path: Path, facts: Facts) -> None:
        """Take in the facts of what has ended; ``write`` writes them."""
        if stamp := _stamp(str(path)):
            self._found[_key(path)] = stamp, facts
            self._new.append(_line(_key(path), stamp, facts))

    def write(self) -> None:
        """Write what is new; where most lines are of runs that are gone, all lines anew."""
        if not self._new:
            return
        stale = self._num_lines + len(self._new) - len(self._found)
        with contextlib.suppress(OSError):
            if stale > max(_LEAST_STALE, len(self._found)):
                kept = [_line(name, *told) for name, told in self._found.items()]
                draft = self._path.with_name(f"{FILE}.{os.getpid()}")
                _append(draft, kept)
                draft.replace(self._path)
            else:
                _append(self._path, self._new)
        self._new = []

    def _take(self, line: str | bytes) -> None:
        with contextlib.suppress(ValueError, TypeError):
            # a fifth of what json takes, which is most of ten thousand lines
            version, name, stamp, facts = from_json(line)
            if version == __version__ and set(map(type, facts.values())) <= _KINDS:
                self._found[str(name)] = str(stamp), facts


def _line(name: str, stamp: str, facts: Facts) -> str:
    return json.dumps([__version__, name, stamp, facts])


def _append(path: Path, lines: list[str]) -> None:
    # a pipe of that name would let it wait for ever
    safely = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | safely
    with os.fdopen(os.open(path, flags, 0o600), "a", encoding="utf-8") as file:
        file.write("".join(f"{line}\n" for line in lines))


def _key(path: Path) -> str:
    return "/".join(path.parts[-2:])


def _stamp(path: str) -> str:
    """Return what changes when a run or a study does; empty: it is gone."""
    try:
        found = os.lstat(f"{path}/state.json")
    except OSError:
        return ""
    try:
        notes_ns = os.lstat(f"{path}/{NOTES}").st_mtime_ns
    except OSError:
        notes_ns = 0
    return f"{found.st_mtime_ns}.{found.st_size}.{found.st_ino}.{notes_ns}"
