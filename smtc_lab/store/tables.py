"""Records as SQLite tables: ``StepRecord`` lies in ``step_record``; and what keeps records."""

from __future__ import annotations

import re
import typing
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Protocol

from smtc_lab.machine.stored_text import LONGEST_TEXT
from smtc_lab.metrics.columns import COMMUNICATION_FIELDS
from smtc_lab.metrics.records.records import (
    BucketRecord,
    EventRecord,
    LoaderRecord,
    StepRecord,
    SystemSample,
)
from smtc_lab.neutral_text import neutral

if TYPE_CHECKING:
    from collections.abc import Sequence

Record = StepRecord | BucketRecord | SystemSample | LoaderRecord | EventRecord
"""Everything that a record file can hold."""

RECORDS_VERSION = 1
"""``user_version`` of a record file; files from before it was written have 0."""


MOST = 1e15
"""Greatest number that a record can hold: seconds, bytes per second, fractions."""

_TYPES = (str, float, bool, int)


@dataclass(frozen=True)
class Table:
    """The SQL of one record class."""

    name: str
    """Its name."""

    columns: tuple[str, ...]
    """The names of the class's fields, in order."""

    types: tuple[tuple[type, bool], ...]
    """Of each column the type of its field, and whether it may be None."""

    create: str
    """Makes the table, if it is not there."""

    insert: str
    """Adds one record."""

    select: str
    """Reads the records after a row number, each behind its row number."""

    select_before: str
    """The same of a file from before steps told of communication."""

    def values(self, record: Record) -> tuple[object, ...]:
        """Return what ``insert`` takes."""
        return tuple(getattr(record, name) for name in self.columns)

    def fields(self, row: tuple[Any, ...]) -> dict[str, Any]:
        """Return the fields of a record from one row, without its number.

        Texts are cut to 4,000 characters, and no terminal obeys them.

        Raises:
            ValueError: A value is not of its column's type; says so without the value.
        """
        return {
            name: value if type(value) is kind is int else self._read(name, value)
            for name, (kind, _), value in zip(self.columns, self.types, row, strict=True)
        }

    def _read(self, name: str, value: object) -> object:
        """Return the value of a field that SQLite keeps in another type, or has wrongly."""
        kind, is_optional = self.types[self.columns.index(name)]
        if isinstance(value, str) and kind is str:
            return neutral(value, longest=LONGEST_TEXT)
        if value is None and is_optional:
            return None
        if isinstance(value, int) and kind is bool:
            return bool(value)
        # what is not finite, as NaN, SQLite may keep as NULL
        if isinstance(value, int | float) and kind is float and abs(value) <= MOST:
            return float(value)
        raise ValueError(f"a value of its column {name} is none that it can have")


def _table(record_class: type[Record]) -> Table:
    name = re.sub(r"(?<!^)(?=[A-Z])", "_", record_class.__name__).lower()
    hints = typing.get_type_hints(record_class)
    columns = tuple(field.name for field in fields(record_class))
    declared = ", ".join(f"{column} {_sql_type(hints[column])}" for column in columns)
    marks = ", ".join("?" for _ in columns)
    return Table(
        name=name,
        columns=columns,
        types=tuple(_type_of(hints[column]) for column in columns),
        create=f"CREATE TABLE IF NOT EXISTS {name} ({declared})",
        insert=f"INSERT INTO {name} VALUES ({marks})",  # noqa: S608  our own names
        select_before=_select(
            name,
            ["NULL" if column in COMMUNICATION_FIELDS else column for column in columns],
        ),
        select=_select(name, columns),
    )


def _select(name: str, columns: Sequence[str]) -> str:
    return f"SELECT rowid, {', '.join(columns)} FROM {name} WHERE rowid > ? ORDER BY rowid"  # noqa: S608  our own names


def _kinds(hint: object) -> tuple[object, ...]:
    return typing.get_args(hint) or (hint,)


def _type_of(hint: object) -> tuple[type, bool]:
    kinds = _kinds(hint)
    return next(kind for kind in _TYPES if kind in kinds), type(None) in kinds


def _sql_type(hint: object) -> str:
    kinds = _kinds(hint)
    if str in kinds:
        return "TEXT"
    return "REAL" if float in kinds else "INTEGER"


TABLES: dict[type, Table] = {
    record_class: _table(record_class)
    for record_class in (StepRecord, BucketRecord, SystemSample, LoaderRecord, EventRecord)
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
