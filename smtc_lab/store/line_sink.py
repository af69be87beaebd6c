"""Keeps the records of one process as lines of text: standard library only."""

from __future__ import annotations

import json
import os
import time
from typing import TYPE_CHECKING, Any

from smtc_lab.errors import StoreError
from smtc_lab.store.tables import TABLES, Record, RecordSink

if TYPE_CHECKING:
    from pathlib import Path

PART_BYTES = 8 * 2**20
"""Size at which a new file is begun: whoever copies growing files copies them again whole."""


class LineSink(RecordSink):
    """Writes ``<table> <JSON list of the values>``, one record a line, as it comes.

    A record that ``append`` took is with the system and survives the death of the process. The
    files are ``<stem>.<begin in ns>.lines`` beside where the SQLite file would be, so that a
    process that is started again, or a new part, never goes on in an older file.

    Raises:
        StoreError: The file cannot be made.
    """

    def __init__(self, path: Path, *, part_bytes: int = PART_BYTES) -> None:
        self._path = path
        self._part_bytes = part_bytes
        self._descriptor = -1
        self._size = 0
        self._is_closed = False
        self._begin_part()

    def append_values(self, record_class: type[Record], values: tuple[object, ...]) -> None:
        """Keep a record given as the values of its fields, in order.

        Raises:
            StoreError: It could not be written (the disk is full, say).
        """
        if self._is_closed:
            return
        line = f"{TABLES[record_class].name} {json.dumps(values)}\n".encode()
        if self._size + len(line) > self._part_bytes:
            os.close(self._descriptor)
            self._begin_part()
        try:
            self._size += os.write(self._descriptor, line)
        except OSError as error:
            raise self._error(error) from error

    def close(self) -> None:
        """Close the file. Safe to call twice."""
        if not self._is_closed:
            self._is_closed = True
            os.close(self._descriptor)

    def _begin_part(self) -> None:
        part = self._path.with_suffix(f".{time.time_ns()}.lines")
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC
        try:
            self._descriptor = os.open(part, flags, 0o600)
        except OSError as error:
            raise self._error(error) from error
        self._size = 0

    def _error(self, error: OSError) -> StoreError:
        return StoreError(
            f"Records cannot be written to {str(self._path.parent)!r} ({error.strerror}). "
            "Records written before are kept. Give the instance more storage, and run again."
        )


def file_and_part(name: str) -> dict[str, str]:
    """Return what a file of lines holds: ``algo-1-rank0.17.lines`` is part 17 of ``rank0``."""
    stem, part, _ = name.rsplit(".", 2)
    return {"file": stem.rpartition("-")[2], "part": part}


def parsed_row(line: bytes) -> tuple[str, list[Any]]:
    """Return table and values of one line; of a damaged one, a table that there is not."""
    table, _, values = line.partition(b" ")
    try:
        row: list[Any] = json.loads(values)
        return table.decode(), row
    except ValueError:
        return "damaged", []
