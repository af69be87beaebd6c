"""The last lines that the instances of a run printed."""

from __future__ import annotations

import re
from collections import deque
from typing import TYPE_CHECKING, Any

from smtc_lab.errors import UnsafeFileError
from smtc_lab.follow.changes import Changes
from smtc_lab.machine.beneath import names_beneath, open_beneath
from smtc_lab.neutral_text import neutral
from smtc_lab.store.run_folder import LOGS
from smtc_lab.store.said import without_colours

if TYPE_CHECKING:
    from pathlib import Path

MOST_LINES = 200
"""Lines that are kept, of all instances together."""

MOST_CHARACTERS = 1000
"""Characters of a line that are kept."""

_TAIL_BYTES = 64 * 1024
_OF_LAUNCHER = re.compile(r"^supervisor$|\.agent$")
"""Logs of what starts and ends entry points, which mostly stay empty."""


class LogTail:
    """Follows the logs of a run from near their end.

    Args:
        folder: Folder of the logs, ``<host>.log`` each, in the folder of their run.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._ends: dict[Path, int] = {}
        self._lines: deque[tuple[str, str]] = deque(maxlen=MOST_LINES)
        self._num_lines = 0
        self._silent: list[str] = []
        self._changes = Changes()

    def look(self) -> bool:
        """Take in new lines and logs; False: there are none."""
        before = self._num_lines, self._silent
        self._silent = []
        for name in names_beneath(self._folder.parent, self._folder, LOGS):
            path = self._folder / name
            if self._changes.in_file(path):
                for line in self._new_lines(path):
                    self._lines.append((path.stem, line))
                    self._num_lines += 1
            if not self._ends.get(path) and not _OF_LAUNCHER.search(path.stem):
                self._silent.append(path.stem)
        return (self._num_lines, self._silent) != before

    def as_dict(self) -> dict[str, Any]:
        """Return what a ``LogInfo`` holds."""
        last = {source for source, _ in self._lines}
        return {
            "first": self._num_lines - len(self._lines),
            "lines": [list(line) for line in self._lines],
            "silent": self._silent,
            "earlier": [
                path.stem for path, end in self._ends.items() if end and path.stem not in last
            ],
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
            data = data.partition(b"\n")[2]
        whole, newline, rest = data.rpartition(b"\n")
        self._ends[path] = end - len(rest)
        return [_readable(line) for line in whole.split(b"\n")] if newline else []


def _readable(line: bytes) -> str:
    """Return a line as a terminal would leave it, with nothing that turns it round.

    It has no colours, and is what stands after its last rewriting.
    """
    text = without_colours(line.decode("utf-8", errors="replace")).rstrip("\r")
    return neutral(text.rpartition("\r")[2][:MOST_CHARACTERS])
