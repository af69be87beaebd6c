"""Records as SQLite tables: ``StepRecord`` lies in ``step_record``; and what keeps records."""

from __future__ import annotations

import re
import typing
from dataclasses import dataclass, fields
from typing import Any, Protocol

from smtc_lab.metrics.records.records import EventRecord, LoaderRecord, StepRecord, SystemSample

Record = StepRecord | SystemSample | LoaderRecord | EventRecord
"""Everything that a record file can hold."""

RECORDS_VERSION = 1
"""``user_version`` of a record file; files from before it was written have 0."""


@dataclass(frozen=True)
class Table:
    """The SQL of one record class."""

    name: str
    """Its name."""

    columns: tuple[str, ...]
    """The names of the class's fields, in order."""

    booleans: frozenset[str]
    """Fields that SQLite keeps as 0 and 1."""

    create: str
    """Makes the table, if it is not there."""

    insert: str
    """Adds one record."""

    select: str
    """Reads the records after a row number, each behind its row number."""

    def values(self, record: Record) -> tuple[object, ...]:
        """Return what ``insert`` takes."""
        return tuple(getattr(record, name) for name in self.columns)

    def fields(self, row: tuple[Any, ...]) -> dict[str, Any]:
        """Return the fields of a record from one row, without its number."""
        return {
            name: bool(value) if name in self.booleans else value
            for name, value in zip(self.columns, row, strict=True)
        }


def _table(record_class: type[Record]) -> Table:
    name = re.sub(r"(?<!^)(?=[A-Z])", "_", record_class.__name__).lower()
    hints = typing.get_type_hints(record_class)
    columns = tuple(field.name for field in fields(record_class))
    declared = ", ".join(f"{column} {_sql_type(hints[column])}" for column in columns)
    marks = ", ".join("?" for _ in columns)
    return Table(
        name=name,
        columns=columns,
        booleans=frozenset(column for column in columns if hints[column] is bool),
        create=f"CREATE TABLE IF NOT EXISTS {name} ({declared})",
        insert=f"INSERT INTO {name} VALUES ({marks})",  # noqa: S608  our own names
        select=(
            f"SELECT rowid, {', '.join(columns)} FROM {name} WHERE rowid > ? ORDER BY rowid"  # noqa: S608  our own names
        ),
    )


def _sql_type(hint: object) -> str:
    kinds = typing.get_args(hint) or (hint,)
    if str in kinds:
        return "TEXT"
    return "REAL" if float in kinds else "INTEGER"


TABLES: dict[type, Table] = {
    record_class: _table(record_class)
    for record_class in (StepRecord, SystemSample, LoaderRecord, EventRecord)
}
"""The table of each record class."""


class RecordSink(Protocol):
    """Keeps the records of one process."""

    def append(self, record: Record) -> None:
        """Keep a record. After ``close`` nothing is kept.

        Raises:
            StoreError: It, or an earlier one, could not be written (the disk is full, say).
        """
        self.append_values(type(record), TABLES[type(record)].values(record))

    def append_values(self, record_class: type[Record], values: tuple[object, ...]) -> None:
        """Keep a record given as the values of its fields, in order.

        Raises:
            StoreError: It, or an earlier one, could not be written (the disk is full, say).
        """

    def close(self) -> None:
        """Write what is left. Safe to call twice.

        Raises:
            StoreError: Records could not be written; says how many.
        """
