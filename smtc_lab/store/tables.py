"""Records as SQLite tables: ``StepRecord`` lies in ``step_record``; and what keeps records."""

from __future__ import annotations

import re
import typing
from dataclasses import MISSING, dataclass, fields
from typing import TYPE_CHECKING, Any, Protocol

from smtc_lab.machine.stored_text import LONGEST_TEXT
from smtc_lab.metrics.records.attempts import AttemptRecord
from smtc_lab.metrics.records.fingerprints import FingerprintRecord
from smtc_lab.metrics.records.metric_record import MetricRecord
from smtc_lab.metrics.records.pipeline_records import MicrobatchRecord, StageRecord
from smtc_lab.metrics.records.records import (
    BucketRecord,
    EventRecord,
    LoaderRecord,
    StepRecord,
    SystemSample,
)
from smtc_lab.neutral_text import neutral

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

Record = (
    StepRecord
    | BucketRecord
    | StageRecord
    | MicrobatchRecord
    | SystemSample
    | LoaderRecord
    | EventRecord
    | AttemptRecord
    | FingerprintRecord
    | MetricRecord
)
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

    defaults: Mapping[str, object]
    """What columns that came later hold in a file from before."""

    def select(self, there: Collection[str] | None = None) -> str:
        """Return what reads the records after a row number, each behind its row number.

        Args:
            there: Names that hold those of the file's columns; None: it has all.
        """
        names = ", ".join(
            _literal(self.defaults[name])
            if there is not None and name not in there and name in self.defaults
            else name
            for name in self.columns
        )
        return f"SELECT rowid, {names} FROM {self.name} WHERE rowid > ? ORDER BY rowid"  # noqa: S608  our own names

    def values(self, record: Record) -> tuple[object, ...]:
        """Return what ``insert`` takes."""
        return tuple(getattr(record, name) for name in self.columns)

    def fields(self, rows: Sequence[tuple[Any, ...]]) -> Iterator[dict[str, Any]]:
        """Return the fields of records, of each row that ``select`` read.

        Texts are cut to 4,000 characters, and no terminal obeys them.

        Raises:
            ValueError: A value is not of its column's type; says so without the value.
        """
        columns = [
            self._column(name, [row[place] for row in rows])
            for place, name in enumerate(self.columns, start=1)
        ]
        return (
            dict(zip(self.columns, values, strict=True))
            for values in zip(*columns, strict=True)
        )

    def _column(self, name: str, values: Sequence[Any]) -> Sequence[object]:
        """Return a field of many records; most columns are as they must be, seen at once."""
        kind, is_optional = self.types[self.columns.index(name)]
        kinds = set(map(type, values)) - ({type(None)} if is_optional else set())
        if not kinds or kinds == {int} == {kind}:
            return values
        if kinds == {float} == {kind}:
            known = [value for value in values if value is not None]
            if max(known) <= MOST and min(known) >= -MOST:
                return values
        return [self._read(name, kind, value, is_optional=is_optional) for value in values]

    def _read(self, name: str, kind: type, value: object, *, is_optional: bool) -> object:
        """Return the value of a field that SQLite keeps in another type, or has wrongly."""
        if type(value) is kind is int:
            return value
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
        defaults={
            field.name: field.default
            for field in fields(record_class)
            if field.default is not MISSING
        },
    )


def _literal(value: object) -> str:
    """Return a default of ours as SQL has it."""
    return "NULL" if value is None else repr(value)


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
    record_class: _table(record_class) for record_class in typing.get_args(Record)
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

    def flush(self) -> None:
        """Return when what was appended outlives this process."""
        return

    def close(self) -> None:
        """Write what is left. Safe to call twice.

        Raises:
            StoreError: Records could not be written; says how many.
        """
