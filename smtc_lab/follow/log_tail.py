"""The last lines that the instances of a run printed."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

from smtc_lab.errors import UnsafeFileError
from smtc_lab.follow.changes import Changes
from smtc_lab.machine.beneath import names_beneath, open_beneath
from smtc_lab.store.run_folder import LOGS
from smtc_lab.store.said import as_a_terminal_leaves

if TYPE_CHECKING:
    from pathlib import Path

MOST_LINES = 200
"""Lines that are kept of each log."""

MOST_TOLD = 400
"""Lines that are told of all logs together."""

MOST_CHARACTERS = 1000
"""Characters of a line that are kept."""

_FEW_LOGS = 64
_FEW_LINES = 20
"""Lines that are kept of each of more logs than that."""

_MOST_LOGS = 2048
_TAIL_BYTES = 64 * 1024


class LogTail:
    """Follows the logs of a run from near their end.

    Args:
        folder: Folder of the logs, ``<host>.log`` each, in the folder of their run.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._ends: dict[Path, int] = {}
        self._lines: dict[str, deque[tuple[int, str]]] = {}
        self._unfinished: dict[str, str] = {}
        self._num_lines = 0
        self._silent: list[str] = []
        self._changes = Changes()

    def look(self) -> bool:
        """Take in new lines and logs; False: there are none."""
        before = self._num_lines, self._silent, dict(self._unfinished)
        self._silent = []
        names = names_beneath(self._folder.parent, self._folder, LOGS)[:_MOST_LOGS]
        most = MOST_LINES if len(names) <= _FEW_LOGS else _FEW_LINES
        for name in names:
            path = self._folder / name
            if self._changes.in_file(path):
                kept = self._lines.setdefault(path.stem, deque(maxlen=most))
                for line in self._new_lines(path):
                    kept.append((self._num_lines, line))
                    self._num_lines += 1
            if not self._ends.get(path) and path.stem not in self._unfinished:
                self._silent.append(path.stem)
        return (self._num_lines, self._silent, self._unfinished) != before

    def as_dict(self) -> dict[str, Any]:
        """Return what a ``LogInfo`` holds: of each log its share of the last lines."""
        each = max(1, MOST_TOLD // max(1, len(self._lines)))
        told = sorted(
            (number, source, line)
            for source, kept in self._lines.items()
            for number, line in list(kept)[-each:]
        )
        return {
            "lines": [[source, line] for _, source, line in told],
            "unfinished": [list(one) for one in self._unfinished.items()],
            "leftOut": self._num_lines - len(told),
            "silent": self._silent,
        }

    def _new_lines(self, path: Path) -> list[str]:
        """Return the whole lines that a log has gained; of a long one the last."""
        try:
            with open_beneath(self._folder.parent, path) as file:
                end = file.seek(0, 2)
                known = self._ends.get(path, 0)
                begin = max(known, end - _TAIL_BYTES)
                file.seek(begin)
                data = file.read(end - begin)
        except UnsafeFileError as error:
            return [str(error)]
        except OSError:  # a log that cannot be read is not worth failing for
            return []
        if begin > known:  # in the middle of a line, or even of a character
            data = data.partition(b"\n")[2] or data
        whole, newline, rest = data.rpartition(b"\n")
        self._ends[path] = end - len(rest)
        self._unfinished.pop(path.stem, None)
        if text := _readable(rest):
            self._unfinished[path.stem] = text
        return [_readable(line) for line in whole.split(b"\n")] if newline else []


def _readable(line: bytes) -> str:
    """Return a line as a terminal would leave it, cut to ``MOST_CHARACTERS``."""
    return as_a_terminal_leaves(line.decode("utf-8", errors="replace"))[:MOST_CHARACTERS]
