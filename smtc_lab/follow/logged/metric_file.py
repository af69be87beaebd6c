"""The metrics in the record file of one trainer, as it grows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from smtc_lab.follow.growing import Growing
from smtc_lab.metrics.records.metric_record import MOST_NAMES
from smtc_lab.store.query import numbers, query
from smtc_lab.store.steps.columns import StepColumns
from smtc_lab.store.tables import MOST

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

_AT_ONCE = 100_000  # rows in memory as Python objects

# the last row and the returns of one moment; a name is told by the number of its first row
_NEWS = f"""
    SELECT NULL, count(*), coalesce((SELECT max(rowid) FROM metric_record), 0)
    FROM attempt_record UNION ALL SELECT * FROM (
        SELECT name, min(rowid), 0 FROM metric_record WHERE rowid > ?
        GROUP BY name ORDER BY 2 LIMIT {MOST_NAMES + 1})
"""  # noqa: S608  our own names


class MetricFile:
    """Reads what is new of the metrics in one record file.

    Args:
        path: The file; it may not be there yet.
        steps: That with the steps in which its rows without a step fall; None: itself.
    """

    def __init__(self, path: Path, steps: Path | None = None) -> None:
        self.path = path
        self._steps = steps or path
        self.new: dict[str, int] = {}
        """Names with rows that were found by ``look`` and not read yet, in order, each with the
        number of the first of these rows."""
        self._first: dict[str, int] = {}
        self._num_read = 0
        self._end = 0
        self._num_returns: int | None = None
        self._ends_s = Growing(1)

    def look(self) -> bool:
        """Find new rows; True: rows that were read are gone, as an attempt did steps again.

        Raises:
            StoreError: The file is damaged or cannot be read.
        """
        (_, num_returns, self._end), *rows = query([self.path], _NEWS, (self._num_read,)) or [
            (None, 0, 0)
        ]
        self.new = {name: first for name, first, _ in rows if isinstance(name, str)}
        before, self._num_returns = self._num_returns, num_returns
        return before is not None and before != num_returns

    def read(self, names: Sequence[str]) -> list[NDArray[np.float64]]:
        """Return the rows of some of the new names, and leave out all others that are new.

        Returns:
            For each name shape (3, N): step, seconds since the epoch, value. NaN: none was
            told, or it is no number that it can be.

        Raises:
            StoreError: The file is damaged or cannot be read.
        """
        first = [self._first.setdefault(name, self.new[name]) for name in names]
        parts = [np.empty((5, 0))]
        while first and self._num_read < self._end:
            sql = _rows_sql(len(first))
            rows = query([self.path], sql, (*first, self._num_read, self._end))
            parts.append(numbers(rows, 5, [self.path]))
            self._num_read = int(rows[-1][0]) if len(rows) == _AT_ONCE else self._end
        self._num_read = self._end
        columns = np.concatenate(parts, axis=1)
        return [columns[2:, columns[1] == place] for place in range(len(names))]

    def steps_done(self, time_s: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return how many steps the trainer had done at some moments; NaN: it was undone.

        Args:
            time_s: Seconds since the epoch, shape (N,).

        Raises:
            StoreError: The file is damaged or cannot be read.
        """
        steps = StepColumns([self._steps]).read(self._ends_s.num_rows, columns=("end_time_s",))
        self._ends_s.append(steps)
        ends_s = np.maximum.accumulate(self._ends_s.values[0])
        done = np.searchsorted(ends_s, time_s, side="right").astype(np.float64)
        if self._num_returns:
            sql = "SELECT time_s, first_step FROM attempt_record"
            for began_s, first_step in numbers(query([self._steps], sql), 2, [self._steps]).T:
                done[(time_s < began_s) & (done >= first_step)] = np.nan
        return done


def _rows_sql(num_names: int) -> str:
    """Return what selects rows of metrics whose names the rows of some numbers have."""
    places = " ".join(
        f"WHEN (SELECT name FROM metric_record WHERE rowid = ?) THEN {place}"  # noqa: S608  our own names
        for place in range(num_names)
    )
    # neither a text nor a blob lies between two numbers
    columns = ", ".join(
        f"CASE WHEN {name} BETWEEN {least} AND {MOST} THEN {name} END"
        for name, least in (("step", 0), ("time_s", 0), ("value", -MOST))
    )
    return (
        f"SELECT rowid, CASE name {places} END AS place, {columns} FROM metric_record"  # noqa: S608  our own names
        f" WHERE rowid > ? AND rowid <= ? AND place IS NOT NULL ORDER BY rowid LIMIT {_AT_ONCE}"
    )
