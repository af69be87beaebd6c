"""The steps of a run as columns: rows of all ranks in one, and bins of many rows.

SQLite does the work, with no Python object for each row, so that a million steps are seen in
about a second.
"""

from __future__ import annotations

import functools
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from smtc_lab.errors import StoreError
from smtc_lab.metrics.columns import COMMUNICATION_FIELDS, SYSTEM_COLUMNS
from smtc_lab.store.query import query, tells_of_communication
from smtc_lab.store.tables import MOST

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

CHART_COLUMNS = ("step", "end_time_s", "step_time_s", "data_wait_s", "device_time_s", "device")
"""What charts draw of a step: columns of ``metrics.columns.STEP_COLUMNS``, and the share of the
ranks' step times in which their devices computed. NaN: not known."""

_OF_COMMUNICATION = frozenset({*COMMUNICATION_FIELDS, "least_rank_wait_s", "waited_for_rank"})
_MAY_BE_UNKNOWN = _OF_COMMUNICATION | {
    "device_time_s",
    "device",
    "num_samples",
    "first_rank_samples",
}
_THREADS = 2
_AT_ONCE = 100_000  # rows in memory as Python objects


@dataclass(frozen=True, kw_only=True)
class Bins:
    """Rows that follow each other, in bins of equal width. No spike is lost.

    NaN is unknown and left out; a bin of nothing else is NaN.
    """

    first: int
    """Number of the first row of the first bin."""

    width: int
    """Rows of each bin, at least 1; the last bin may hold fewer."""

    low: NDArray[np.float64]
    """Least value of each bin, shape (C, B): C columns, B bins."""

    high: NDArray[np.float64]
    """Greatest value of each bin, shape (C, B)."""

    mean: NDArray[np.float64]
    """Mean of each bin, shape (C, B)."""


class StepColumns:
    """The steps of a job, made of the record files of all its ranks.

    A trainer writes one row for each of its steps, in order; row i of all files is step i.
    Rows that one rank does not have yet are not there.

    Args:
        paths: One record file for each rank, at least one.
    """

    def __init__(self, paths: Sequence[Path]) -> None:
        self._paths = tuple(paths)
        self._tells: bool | None = None

    def count(self) -> int:
        """Return how many steps all ranks have recorded.

        Raises:
            StoreError: A file is damaged or cannot be read.
        """
        return min(map(_count, self._paths), default=0)

    def has_rows(self) -> bool:
        """Return whether each rank has recorded a step; told at once, however many there are.

        Raises:
            StoreError: A file is damaged or cannot be read.
        """
        return all(query([path], "SELECT 1 FROM step_record LIMIT 1") for path in self._paths)

    def read(
        self,
        first: int,
        end: int | None = None,
        *,
        columns: Sequence[str] = CHART_COLUMNS,
    ) -> NDArray[np.float64]:
        """Return steps as they are, shape (C, N).

        Args:
            first: Number of the first row, from 0.
            end: Number of the row behind the last one; None: all that are there.
            columns: Names of the columns, of those of ``metrics.columns`` and of charts.

        Raises:
            StoreError: A file is damaged or cannot be read.
        """
        parts = []
        if self._tells is None and not _OF_COMMUNICATION.isdisjoint(columns):
            self._tells = tells_of_communication(self._paths)
        sql = _rows_sql(len(self._paths), tuple(columns), tells=self._tells is not False)
        while end is None or first < end:
            at_once = _AT_ONCE if end is None else min(_AT_ONCE, end - first)
            rows = query(self._paths, f"{sql} LIMIT {at_once}", (first, first + at_once))
            part = _numbers(rows, len(columns), self._paths)
            for values in part[[name not in _MAY_BE_UNKNOWN for name in columns]]:
                if not (np.abs(values) <= MOST).all():
                    raise _damage(self._paths, "a number of its steps is none that it can be")
            parts.append(part)
            first += at_once
            if len(rows) < at_once:
                break
        return np.concatenate(parts, axis=1) if parts else np.empty((len(columns), 0))

    def bins(self, first: int, end: int, width: int) -> Bins:
        """Return what charts draw in bins, each ``width`` rows wide, made in two threads.

        Args:
            first: Number of the first row, from 0.
            end: Number of the row behind the last one, above ``first``.
            width: Rows of each bin, at least 1.

        Raises:
            StoreError: A file is damaged or cannot be read.
        """
        sql = _bins_sql(len(self._paths))
        share = -(-(end - first) // (_THREADS * width)) * width
        begins = range(first, end, share)
        with ThreadPoolExecutor(_THREADS) as pool:
            parts = pool.map(
                lambda begin: query(
                    self._paths, sql, (begin, min(begin + share, end), first, width)
                ),
                begins,
            )
            rows = [row for part in parts for row in part]
        columns = _numbers(rows, 3 * len(CHART_COLUMNS), self._paths)
        low, high, mean = columns[0::3], columns[1::3], columns[2::3]
        return Bins(first=first, width=width, low=low, high=high, mean=mean)


@functools.lru_cache(maxsize=256)
def _rows_sql(num_ranks: int, columns: tuple[str, ...], *, tells: bool = True) -> str:
    """Return what selects the rows of all ranks, joined, between two row numbers.

    Args:
        num_ranks: Files.
        columns: Names of the columns.
        tells: Whether the files have columns of communication.
    """
    schemas = ["main", *(f"r{place}" for place in range(1, num_ranks))]
    joins = "".join(
        f" JOIN {schema}.step_record ON {schema}.step_record.rowid = main.step_record.rowid"
        for schema in schemas[1:]
    )
    selected = ", ".join(
        f"{_column_sql(name, schemas) if tells or name not in _OF_COMMUNICATION else 'NULL'}"
        f" AS {name}"
        for name in columns
    )
    return (
        f"SELECT {selected} FROM main.step_record{joins}"  # noqa: S608  our own names
        " WHERE main.step_record.rowid > ? AND main.step_record.rowid <= ?"
        " ORDER BY main.step_record.rowid"
    )


def _column_sql(name: str, schemas: Sequence[str]) -> str:
    """Return a column of a step of the job, made of those of its ranks."""

    def each(column: str) -> list[str]:
        return [f"{schema}.step_record.{column}" for schema in schemas]

    def extreme(function: str, values: list[str]) -> str:
        # max() of one argument would be an aggregate
        return values[0] if len(values) == 1 else f"{function}({', '.join(values)})"

    def total(column: str) -> str:
        return f"({' + '.join(each(column))})"

    ends_and_times = zip(each("end_time_s"), each("step_time_s"), strict=True)
    made = {
        "step": "main.step_record.step",
        "begin_time_s": extreme("min", [f"{end} - {time}" for end, time in ends_and_times]),
        "end_time_s": extreme("max", each("end_time_s")),
        "step_time_s": extreme("max", each("step_time_s")),
        "rank_time_s": f"{total('step_time_s')} / {len(schemas)}.0",
        "data_wait_s": f"{total('data_wait_s')} / {len(schemas)}.0",
        "device_time_s": f"{total('device_time_s')} / {len(schemas)}.0",
        "device": f"{total('device_time_s')} / {total('step_time_s')}",
        "num_samples": total("num_samples"),
        "first_rank_samples": "main.step_record.num_samples",
        "synchronized": extreme("min", each("synchronized")),
        "least_rank_wait_s": extreme("min", each("rank_wait_s")),
        "waited_for_rank": _place_sql(extreme("min", each("rank_wait_s")), each("rank_wait_s")),
        **{
            name: f"{total(name)} / {len(schemas)}.0"
            for name in (
                "exposed_comm_s",
                "hidden_comm_s",
                "rank_wait_s",
                "backward_s",
                "local_grad_norm2",
            )
        },
        **{
            name: f"main.step_record.{name}"
            for name in ("comm_bytes", "num_buckets", "num_syncs", "mean_grad_norm2")
        },
    }
    return made[name]


def _place_sql(value: str, values: list[str]) -> str:
    """Return the place of the first of some values that is this one; NULL: it is unknown."""
    places = " ".join(f"WHEN {one} THEN {place}" for place, one in enumerate(values))
    return f"CASE {value} {places} END"


def _bins_sql(num_ranks: int) -> str:
    rows = _rows_sql(num_ranks, CHART_COLUMNS)
    inner = rows.replace("SELECT ", "SELECT main.step_record.rowid AS row, ", 1)
    # ordered already, by the key of the table; a second ORDER BY would sort
    columns = ", ".join(f"min({name}), max({name}), avg({name})" for name in CHART_COLUMNS)
    return f"SELECT {columns} FROM ({inner}) GROUP BY (row - 1 - ?) / ?"  # noqa: S608  our own names


def read_samples(path: Path, after: int = 0) -> NDArray[np.float64]:
    """Return the samples of an instance behind so many, shape (9, N), NaN where not known.

    Args:
        path: Its record file; it may be growing, and may not be there yet.
        after: Number of samples to skip.

    Raises:
        StoreError: The file is damaged or cannot be read.
    """
    names = ", ".join(SYSTEM_COLUMNS)
    rows = query(
        [path],
        f"SELECT {names} FROM system_sample WHERE rowid > ? ORDER BY rowid",  # noqa: S608  our own names
        (after,),
    )
    return _numbers(rows, len(SYSTEM_COLUMNS), [path])


def _count(path: Path) -> int:
    """Return how many steps a file holds, whose rows are numbered from 1 on."""
    rows = query([path], "SELECT count(*), coalesce(max(rowid), 0) FROM step_record")
    count, last = rows[0] if rows else (0, 0)
    if count != last:
        raise _damage([path], f"it has {count:,} rows, but they are numbered up to {last:,}")
    return int(count)


def _numbers(
    rows: list[tuple[object, ...]], num_columns: int, paths: Sequence[Path]
) -> NDArray[np.float64]:
    """Return rows as columns, shape (C, N), NaN where not known."""
    try:
        return np.array(rows, dtype=np.float64).reshape(-1, num_columns).T
    except (ValueError, TypeError):
        raise _damage(paths, "it holds a text where a number belongs") from None


def _damage(paths: Sequence[Path], what: str) -> StoreError:
    names = ", ".join(repr(str(path)) for path in paths)
    return StoreError(
        f"The record file {names} is damaged ({what}). The other files of the run can still be "
        "read; restore this one from a copy."
    )
