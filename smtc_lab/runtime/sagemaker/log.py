"""Writes what an instance prints and records to the log of its container, as it comes."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from smtc_lab.metrics.records.lines import MAX_LINE_BYTES, record_line, row_lines
from smtc_lab.store.line_sink import file_and_part, parsed_row

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

LOOK_S = 0.25
"""Time between two looks, in seconds. Records of that time share a line."""

_AT_ONCE_BYTES = 2 * 2**20
_MOST_FILES = 100  # their names fit in a line


class ContainerLog:
    """Forwards what an instance prints, and its records, from a thread of its own.

    Args:
        logs: What the entry points print, and what each line of it begins with; they may not
            be there yet.
        records: Folder of the record files.
        host: The instance's name in the job's plan.
        key: What seals record lines.
        write: Takes each line for the container's log.
    """

    def __init__(
        self,
        logs: Mapping[Path, str],
        records: Path,
        *,
        host: str,
        key: bytes,
        write: Callable[[str], None],
    ) -> None:
        self._logs = {
            _Tail(log, MAX_LINE_BYTES - len(begin)): begin for log, begin in logs.items()
        }
        self._records = records
        self._tails: dict[str, _Tail] = {}
        self._rows: dict[str, int] = {}
        self._host = host
        self._key = key
        self._write = write
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name="smtc-log", daemon=True)

    @property
    def num_rows(self) -> dict[str, int]:
        """How many rows of each file were forwarded, by its name; the newest files only."""
        newest = sorted(self._rows, key=lambda name: file_and_part(name)["part"])[-_MOST_FILES:]
        return {name: self._rows[name] for name in newest}

    def say(self, content: dict[str, Any]) -> None:
        """Write a line of our own; before ``start``, or after ``close``."""
        self._write(record_line(self._key, {"host": self._host, **content}))

    def start(self) -> None:
        """Begin to forward."""
        self._thread.start()

    def close(self) -> None:
        """Forward what is left, and stop."""
        self._closing.set()
        self._thread.join()

    def _run(self) -> None:
        closing = False
        while not closing:
            closing = self._closing.wait(LOOK_S)
            while self._look(closing=closing):
                pass

    def _look(self, *, closing: bool) -> bool:
        """Forward what is new; return whether there may be more at once."""
        found = False
        for log, begin in self._logs.items():
            for line in log.lines(closing=closing):
                found = True
                self._write(begin + line.decode("utf-8", errors="replace"))
        for path in sorted(self._records.glob("*.lines")):
            tail = self._tails.setdefault(path.name, _Tail(path))
            rows = [parsed_row(line) for line in tail.lines(closing=False)]
            found |= bool(rows)
            first = self._rows.get(path.name, 0)
            self._rows[path.name] = first + len(rows)
            about = {"is": "rows", "host": self._host, **file_and_part(path.name)}
            for text in row_lines(self._key, about, first=first, rows=rows):
                self._write(text)
        return found


class _Tail:
    """Reads the lines that a file has gained.

    Args:
        path: The file; it may not be there yet.
        longest: Longest line in bytes; longer ones come in pieces. None: no limit.
    """

    def __init__(self, path: Path, longest: int | None = None) -> None:
        self._path = path
        self._longest = longest
        self._offset = 0
        self._begun = b""

    def lines(self, *, closing: bool) -> Iterator[bytes]:
        """Return what has come since the last call.

        Args:
            closing: Whether nothing more will come, so that a begun line is one, too.
        """
        try:
            with self._path.open("rb") as file:
                file.seek(self._offset)
                data = file.read(_AT_ONCE_BYTES)
        except FileNotFoundError:
            return
        self._offset += len(data)
        *whole, self._begun = (self._begun + data).split(b"\n")
        is_long = self._longest is not None and len(self._begun) >= self._longest
        if is_long or (closing and not data):
            whole.append(self._begun)
            self._begun = b""
        for line in whole:
            step = self._longest or max(1, len(line))
            for begin in range(0, len(line), step):
                yield line[begin : begin + step]
