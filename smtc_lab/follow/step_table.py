"""The steps of a job, as a live table."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from smtc_lab.follow.frames import Frame
from smtc_lab.follow.history import MOST_BINS
from smtc_lab.follow.table import CAPACITY, LiveTable
from smtc_lab.metrics.columns import STEP_COLUMNS
from smtc_lab.store.steps.columns import StepColumns

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from smtc_lab.store.steps.bins import Bins

STEP_TABLE_COLUMNS = (
    "step",
    "time_s",
    "step_time_s",
    "data_wait_s",
    "device_time_s",
    "device",
)
"""Columns of the table: number of the step; its end in seconds since the begin of the run; its
time in seconds, the longest of all ranks; data wait and device time in seconds, means over the
ranks; the share of the step time in which the devices computed. NaN: not known."""


class StepTable:
    """Follows the steps of one job.

    Args:
        paths: The record file of each rank.
        name: Name of the table.
        dilation: Time dilation of the job.
    """

    def __init__(self, paths: Sequence[Path], name: str, *, dilation: float = 1.0) -> None:
        self.paths = tuple(paths)
        self.table = LiveTable(name, STEP_TABLE_COLUMNS)
        self.num_rows = 0
        """Steps that are in the table."""
        self._columns = StepColumns(self.paths, dilation=dilation)
        self._begin_s = 0.0
        self._latest_s = 0.0
        self._num_returns = 0

    def open(self, *, begin_s: float) -> bool:
        """Take in the steps that are there, the oldest in bins; False: there are none.

        Args:
            begin_s: Begin of the run in seconds since the epoch.

        Raises:
            StoreError: A file is damaged or cannot be read.
        """
        self._begin_s = begin_s
        self._num_returns = self._columns.num_returns()
        count = self._columns.count()
        if count == 0:
            self.num_rows = 0
            return False
        older, first = None, 0
        if count > CAPACITY:
            width = 1
            while count > width * MOST_BINS:
                width *= 2
            first = (count - CAPACITY // 2) // width * width
            older = self._bins(0, first, width)
        rows = self._since_begin(self._columns.read(first, count))
        self._latest_s = rows[1, -1]
        self.table.load(older, rows)
        self.num_rows = count
        return True

    def has_gone_back(self) -> bool:
        """Return whether an attempt has replaced steps since ``open``.

        Raises:
            StoreError: A file is damaged or cannot be read.
        """
        return self._columns.num_returns() != self._num_returns

    def look(self) -> bool:
        """Take in new steps; False: there are none.

        Raises:
            StoreError: A file is damaged or cannot be read.
        """
        rows = self._since_begin(self._columns.read(self.num_rows))
        if rows.shape[1] == 0:
            return False
        rows[1] = np.maximum.accumulate(np.maximum(rows[1], self._latest_s))
        self._latest_s = rows[1, -1]
        self.table.extend(list(rows))
        self.num_rows += rows.shape[1]
        return True

    def rows(self, first: int) -> NDArray[np.float64]:
        """Return all steps behind so many as they are, shape (6, N)."""
        return self._since_begin(self._columns.read(first, self.num_rows))

    def columns(self, first: int) -> NDArray[np.float64]:
        """Return all steps behind so many for arithmetic, shape (C, N).

        Columns are those of ``metrics.columns.STEP_COLUMNS``.
        """
        return self._columns.read(first, self.num_rows, columns=STEP_COLUMNS)

    def part(self, first: int, end: int, most: int) -> Frame:
        """Return the steps between two row numbers: as they are, or in at most so many bins."""
        end = min(end, self.num_rows)
        first, most = min(first, end), max(1, most)
        width = -(-(end - first) // most)
        bins = None
        rows = np.empty((len(STEP_TABLE_COLUMNS), 0))
        if width > 1:
            bins = self._bins(first, end, width)
        else:
            rows = self._since_begin(self._columns.read(first, end))
        return Frame(
            type="part",
            table=self.table.name,
            columns=self.table.columns,
            first=first,
            rows=rows,
            bins=bins,
        )

    def _bins(self, first: int, end: int, width: int) -> Bins:
        bins = self._columns.bins(first, end, width)
        for columns in (bins.low, bins.high, bins.mean):
            self._since_begin(columns)
        return bins

    def _since_begin(self, columns: NDArray[np.float64]) -> NDArray[np.float64]:
        columns[1] -= self._begin_s
        return columns
