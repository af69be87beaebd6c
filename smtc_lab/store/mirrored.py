"""Record files of instances elsewhere, as they arrive here: in pieces, more than once, late."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import apsw

from smtc_lab.errors import StoreError
from smtc_lab.store.tables import TABLES
from smtc_lab.store.writer import keep_row, open_record_file

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

_BY_NAME = {table.name: table for table in TABLES.values()}
_INTEGERS = range(-(2**63), 2**63)


class MirroredRecords:
    """One record file, filled with the rows of its original in their order.

    Where it stands is kept in the file itself, with the rows: rows that come again, also after
    a restart of whoever mirrors, change nothing. Rows that come early wait.

    Args:
        path: The SQLite file.
        host: What its events are to call their host.

    Raises:
        StoreError: The file cannot be made.
    """

    def __init__(self, path: Path, *, host: str) -> None:
        self._path = path
        self._host = host
        self._early: dict[str, dict[int, tuple[str, list[list[Any]]]]] = {}
        try:
            self._connection = open_record_file(path)
            self._connection.execute(
                "CREATE TABLE IF NOT EXISTS mirrored (part TEXT PRIMARY KEY, count INTEGER)"
            )
            known = self._connection.execute("SELECT part, count FROM mirrored")
            self._counts: dict[str, int] = {str(part): int(count) for part, count in known}
        except (apsw.Error, OSError) as error:
            raise self._error(error) from error

    def count(self, part: str) -> int:
        """Return how many rows of a part are here."""
        return self._counts.get(part, 0)

    def add(self, part: str, first: int, table: str, rows: Sequence[object]) -> bool:
        """Keep rows of one part of the original; return whether they are legal.

        Args:
            part: Which part.
            first: Number of the first row in it, from 0.
            table: What the rows are.
            rows: Their values.

        Raises:
            StoreError: They cannot be written.
        """
        checked = [_checked(table, row) for row in rows]
        if first < 0 or None in checked:
            return False
        early = self._early.setdefault(part, {})
        if rows:
            early[first] = (table, [row for row in checked if row is not None])
        while (known := self._next(part)) is not None:
            table, legal = early.pop(known)
            self._write(part, table, legal[self.count(part) - known :])
        return True

    def settle(self) -> int:
        """Keep the rows that waited for others which never came; return how many are lost."""
        lost = 0
        for part, early in self._early.items():
            for first in sorted(early):
                table, rows = early[first]
                lost += max(0, first - self.count(part))
                self._counts[part] = max(first, self.count(part))
                self._write(part, table, rows[self.count(part) - first :])
            early.clear()
        return lost

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def _next(self, part: str) -> int | None:
        """Return the begin of waiting rows that join on to those that are here."""
        here = self.count(part)
        return next((first for first in self._early[part] if first <= here), None)

    def _write(self, part: str, table: str, rows: list[list[Any]]) -> None:
        if not rows:
            return
        if table == "event_record":
            place = _BY_NAME[table].columns.index("host")
            rows = [[*row[:place], self._host, *row[place + 1 :]] for row in rows]
        count = self.count(part) + len(rows)
        try:
            with self._connection:
                for row in rows:
                    keep_row(self._connection, _BY_NAME[table], row)
                self._connection.execute(
                    "INSERT OR REPLACE INTO mirrored VALUES (?, ?)", (part, count)
                )
        except apsw.Error as error:
            raise self._error(error) from error
        self._counts[part] = count

    def _error(self, error: Exception) -> StoreError:
        return StoreError(
            f"The record file {str(self._path)!r} cannot be written ({error}). Free space or "
            "choose another folder, and follow the run again."
        )


def _checked(table: str, row: object) -> list[Any] | None:
    """Return the values of a row if they can be a record's."""
    if table not in _BY_NAME or not isinstance(row, list):
        return None
    if len(row) != len(_BY_NAME[table].columns):
        return None
    legal = all(
        value is None
        or isinstance(value, str | float | bool)
        or (isinstance(value, int) and value in _INTEGERS)
        for value in row
    )
    return row if legal else None
