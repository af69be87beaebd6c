"""Where a process of an instance puts its records."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from smtc_lab.store.tables import RecordSink

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
