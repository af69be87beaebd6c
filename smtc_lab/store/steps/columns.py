"""The steps of a run as columns: rows of all ranks in one, and bins of many rows."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import numpy as np

from smtc_lab.errors import StoreError
from smtc_lab.metrics.columns import COMMUNICATION_FIELDS
from smtc_lab.metrics.records.across_ranks import ACROSS, TOGETHER, RankFold
from smtc_lab.metrics.records.cluster_time import in_cluster_time
from smtc_lab.store.query import columns_there, damage, numbers, query
from smtc_lab.store.steps.bins import Bins, OpenBins
from smtc_lab.store.steps.sql import bins_sql, rows_sql
from smtc_lab.store.tables import MOST

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

CHART_COLUMNS = ("step", "end_time_s", "step_time_s", "data_wait_s", "device_time_s", "device")
"""What charts draw of a step: columns of ``metrics.columns.STEP_COLUMNS``, and the share of the
ranks' step times in which their devices computed. NaN: not known."""

_OF_COMMUNICATION = frozenset(
    name for name, made in ACROSS.items() if made.of in COMMUNICATION_FIELDS
)
_MAY_BE_UNKNOWN = _OF_COMMUNICATION.union(
    name for name, made in ACROSS.items() if made.of in {"device_time_s", "num_samples"}
)
_THREADS = 2
_AT_ONCE = 100_000  # rows in memory as Python objects


class StepColumns:
    """The steps of a job, made of the record files of all its ranks.

    A trainer writes one row for each of its steps, in order; row i of all files is step i.
    Rows that one rank does not have yet are not there.

    Args:
        paths: One record file for each rank, at least one.
        dilation: Time dilation of the run, by whose cluster time steps are told.
    """

    def __init__(self, paths: Sequence[Path], *, dilation: float = 1.0) -> None:
        self._paths = tuple(paths)
        self._dilation = dilation
        self._there: frozenset[str] | None = None

    def count(self) -> int:
        """Return how many steps all ranks have recorded.

        Raises:
            StoreError: A file is damaged or cannot be read.
        """
        return min(map(_count, self._paths), default=0)

    def num_returns(self) -> int:
        """Return how often trainers went on from an earlier step, all ranks together.

        Raises:
            StoreError: A file is damaged or cannot be read.
        """
        counts = (query([path], "SELECT count(*) FROM attempt_record") for path in self._paths)
        return sum(int(rows[0][0]) for rows in counts if rows)

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
        try:
            found = self._read(first, end, tuple(columns))
        except StoreError:
            self._name_one(lambda rank: rank.read(first, end, columns=columns))
            raise
        return in_cluster_time(found, columns, dilation=self._dilation)

    def bins(self, first: int, end: int, width: int) -> Bins:
        """Return what charts draw in bins, each ``width`` rows wide.

        Args:
            first: Number of the first row, from 0.
            end: Number of the row behind the last one, above ``first``.
            width: Rows of each bin, at least 1.

        Raises:
            StoreError: A file is damaged or cannot be read.
        """
        if len(self._paths) > TOGETHER:
            return self._bins_of_rows(first, end, width)
        try:
            found = self._bins_of_files(first, end, width)
        except StoreError:
            self._name_one(lambda rank: rank.bins(first, end, width))
            raise
        for columns in (found.low, found.high, found.mean):
            in_cluster_time(columns, CHART_COLUMNS, dilation=self._dilation)
        return found

    def _read(
        self, first: int, end: int | None, columns: tuple[str, ...]
    ) -> NDArray[np.float64]:
        parts = []
        lacks = self._lacks(columns)
        must_be_known = [name not in _MAY_BE_UNKNOWN for name in columns]
        while end is None or first < end:
            at_once = _AT_ONCE if end is None else min(_AT_ONCE, end - first)
            part = self._rows(first, at_once, columns, lacks)
            for values in part[must_be_known]:
                if not (np.abs(values) <= MOST).all():
                    raise damage(self._paths, "a number of its steps is none that it can be")
            parts.append(part)
            first += at_once
            if part.shape[1] < at_once:
                break
        return np.concatenate(parts, axis=1) if parts else np.empty((len(columns), 0))

    def _rows(
        self, first: int, most: int, columns: tuple[str, ...], lacks: frozenset[str]
    ) -> NDArray[np.float64]:
        """Return at most so many rows, shape (C, N)."""
        if len(self._paths) <= TOGETHER:
            sql = f"{rows_sql(len(self._paths), columns, lacks)} LIMIT {most}"
            rows = query(self._paths, sql, (first, first + most))
            return numbers(rows, len(columns), self._paths)
        job = RankFold(columns)
        num_parts = sum(ACROSS[name].num_parts for name in columns)
        for place in range(0, len(self._paths), TOGETHER):
            group = self._paths[place : place + TOGETHER]
            sql = f"{rows_sql(len(group), columns, lacks, parts=True)} LIMIT {most}"
            rows = query(group, sql, (first, first + most))
            most = len(rows)  # a row that these ranks do not have is not there
            if not rows:
                return np.empty((len(columns), 0))
            job.add(numbers(rows, num_parts, group), len(group))
        return job.columns()

    def _lacks(self, columns: Sequence[str]) -> frozenset[str]:
        """Return those of some columns that the files, of an older smtc_lab, do not have."""
        asked = _OF_COMMUNICATION.intersection(columns)
        if self._there is None and asked:
            self._there = columns_there(self._paths, "step_record")
        there = self._there
        return frozenset(name for name in asked if there and ACROSS[name].of not in there)

    def _bins_of_files(self, first: int, end: int, width: int) -> Bins:
        """Return bins that SQLite makes of joined files, in two threads."""
        sql = bins_sql(len(self._paths), CHART_COLUMNS)
        share = -(-(end - first) // (_THREADS * width)) * width
        with ThreadPoolExecutor(_THREADS) as pool:
            parts = pool.map(
                lambda begin: query(
                    self._paths, sql, (begin, min(begin + share, end), first, width)
                ),
                range(first, end, share),
            )
            rows = [row for part in parts for row in part]
        columns = numbers(rows, 3 * len(CHART_COLUMNS), self._paths)
        low, high, mean = columns[0::3], columns[1::3], columns[2::3]
        return Bins(first=first, width=width, low=low, high=high, mean=mean)

    def _bins_of_rows(self, first: int, end: int, width: int) -> Bins:
        """Return bins of rows that were put together, some at a time."""
        bins = OpenBins.empty(len(CHART_COLUMNS), -(-(end - first) // width))
        row = first
        while row < end:
            most = min(_AT_ONCE, end - row)
            rows = self.read(row, row + most)
            bins.add(rows, at=row - first, width=width)
            row += rows.shape[1]
            if rows.shape[1] < most:
                break
        return bins.before(-(-(row - first) // width), first=first, width=width)

    def _name_one(self, ask: Callable[[StepColumns], object]) -> None:
        """Ask each of several files by itself; what is wrong with one says which it is.

        Raises:
            StoreError: Of the first that cannot answer.
        """
        if len(self._paths) > 1:
            for path in self._paths:
                ask(StepColumns([path]))


def _count(path: Path) -> int:
    """Return how many steps a file holds, whose rows are numbered from 1 on."""
    rows = query([path], "SELECT count(*), coalesce(max(rowid), 0) FROM step_record")
    count, last = rows[0] if rows else (0, 0)
    if count != last:
        raise damage([path], f"it has {count:,} rows, but they are numbered up to {last:,}")
    return int(count)
