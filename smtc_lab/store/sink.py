"""Where a process of an instance puts its records."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from smtc_lab.store.tables import Record, RecordSink

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

LINES_VARIABLE = "SMTC_RECORD_LINES"
"""Environment variable that asks for lines of text instead of an SQLite file: in a container
that has no SQLite of ours, and from which records travel as lines anyway."""


def open_sink(path: Path) -> RecordSink:
    """Return where records go.

    Args:
        path: The SQLite file, or what the files of lines are named after.

    Raises:
        StoreError: The file cannot be made.
    """
    if os.environ.get(LINES_VARIABLE):
        from smtc_lab.store.line_sink import LineSink  # noqa: PLC0415  only containers need it

        return LineSink(path)
    from smtc_lab.store.writer import RecordWriter  # noqa: PLC0415  it needs a package of its own

    return RecordWriter(path)


class LateSink(RecordSink):
    """Records of a process, whose file is opened with the first one.

    SQLite does not survive a fork: a file that is open in neither process does.

    Args:
        path: As for ``open_sink``.
        is_ours: Returns whether this process keeps them; what others append is dropped.
    """

    def __init__(self, path: Path, is_ours: Callable[[], bool]) -> None:
        self._path, self._is_ours = path, is_ours
        self._sink: RecordSink | None = None
        self._is_closed = False

    def append_values(self, record_class: type[Record], values: tuple[object, ...]) -> None:
        """Keep a record given as the values of its fields, in order.

        Raises:
            StoreError: The file cannot be made, or an earlier record not be written.
        """
        if self._is_closed or not self._is_ours():
            return
        if self._sink is None:
            self._sink = open_sink(self._path)
        self._sink.append_values(record_class, values)

    def flush(self) -> None:
        """Return when what was appended outlives this process."""
        if self._sink is not None:
            self._sink.flush()

    def close(self) -> None:
        """Write what is left. Safe to call twice.

        Raises:
            StoreError: Records could not be written; says how many.
        """
        self._is_closed = True
        if self._sink is not None:
            self._sink.close()
