"""What a script logs of its training, as live tables: one for each metric."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from smtc_lab.follow.changes import Changes
from smtc_lab.follow.file_pace import FilePace
from smtc_lab.follow.logged.metric_file import MetricFile
from smtc_lab.follow.table import LiveTable
from smtc_lab.metrics.records.metric_record import LONGEST_NAME, MOST_NAMES
from smtc_lab.neutral_text import neutral

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from smtc_lab.follow.stream import Stream

METRIC_COLUMNS = ("step", "time_s", "value")
"""Columns of a metric's table: steps that were done, or the step that the script gave; seconds
since the begin of the run, of the clock as in the table of steps; the value. NaN: no number."""

MOST_METRICS = 32
"""Metrics of a run that have tables, at most: the first that are seen."""

_FILE_S = 0.016
"""Least time from one look to the next, for each of more than a few files, which takes 0.7 ms:
5 % of a core."""

_AT_EACH_LOOK = 4


class MetricTable:
    """The values of one metric.

    Args:
        name: What the script calls it.
        table: Name of its table.
        place: Of the trainer whose values they are, from 0.
    """

    def __init__(self, name: str, table: str, place: int) -> None:
        self.name = name
        """What the script calls it; no reader obeys it."""
        self.table = LiveTable(table, METRIC_COLUMNS)
        """The values."""
        self.clear(place)

    def clear(self, place: int) -> None:
        """Begin anew with the values of a trainer."""
        self.place = place
        """Of the trainer whose values they are, from 0."""
        self.last = self.least = self.greatest = math.nan
        """The newest, the least and the greatest value; NaN: no number, or none."""
        self._step = self._time_s = 0.0
        self._goes_back = False
        self.table.load(None, np.empty((len(METRIC_COLUMNS), 0)))

    def take(self, rows: NDArray[np.float64], file: MetricFile, *, begin_s: float) -> None:
        """Add the rows that were read of a file, shape (3, N), N at least 1.

        A row that tells no step has the steps that were done then. So have all rows from one
        on whose step goes back, as that of an epoch does.

        Raises:
            StoreError: The file is damaged or cannot be read.
        """
        step, time_s, value = rows
        greatest = np.fmax.accumulate(np.append(self._step, step))
        back = np.logical_or.accumulate(np.append(self._goes_back, step < greatest[:-1]))
        untold = np.isnan(step) | back[1:]
        if untold.any():
            step[untold] = file.steps_done(time_s[untold])
        self._goes_back = bool(back[-1])
        step, time_s, value = rows[:, ~np.isnan(step)]
        if len(step) == 0:
            return
        step = np.maximum.accumulate(np.append(self._step, step))[1:]
        time_s = np.fmax.accumulate(np.append(self._time_s, time_s - begin_s))[1:]
        self._step, self._time_s = step[-1], time_s[-1]
        self.last = float(value[-1])
        self.least = float(np.fmin.reduce(value, initial=self.least))
        self.greatest = float(np.fmax.reduce(value, initial=self.greatest))
        if self.table.num_rows == 0:
            self.table.load(None, np.array([step, time_s, value]))
        else:
            self.table.extend([step, time_s, value])


class MetricTables:
    """Follows the metrics of a run: each of the first trainer that logs it.

    Args:
        paths: The record file of each trainer, in order, also of those that are not there.
        stream: Sends the tables.
        prefix: Put before their names.
        printed: Record files of what was found in what they print, which tell no steps.
    """

    def __init__(
        self,
        paths: Sequence[Path],
        stream: Stream,
        *,
        prefix: str = "",
        printed: Sequence[Path] = (),
    ) -> None:
        self._num_trainers = len(paths)
        self._paths = (*paths, *printed)
        self._files = self._opened()
        self._stream = stream
        self._prefix = prefix
        self._by_name: dict[str, MetricTable] = {}
        self._left_out: set[str] = set()
        self._changes = Changes()
        self._pace = FilePace(_FILE_S, at_each_look=_AT_EACH_LOOK)

    @property
    def shown(self) -> list[MetricTable]:
        """Those that have a value, in the order in which they were seen."""
        return [metric for metric in self._by_name.values() if metric.table.num_rows]

    @property
    def num_left_out(self) -> int:
        """Metrics that have no table, as there are too many; those beyond 1,000 not counted."""
        return len(self._left_out)

    def look(self, *, begin_s: float, is_last: bool = False) -> bool:
        """Take in what is new; False: nothing is.

        Args:
            begin_s: Begin of the run in seconds since the epoch.
            is_last: Whether the run has ended, so that all of it is there.

        Raises:
            StoreError: A file is damaged or cannot be read.
        """
        if not self._pace.is_due(len(self._files), is_last=is_last):
            return False
        changed = [
            place for place, path in enumerate(self._paths) if self._changes.in_file(path)
        ]
        anew: list[MetricTable] = []
        if any([self._files[place].look() for place in changed]):  # noqa: C419  all look
            anew = self._forget()
            changed = list(range(len(self._files)))
        found = [self._read(place, anew, begin_s=begin_s) for place in changed]
        for metric in anew:
            self._stream.add(metric.table)
            # what was loaded is sent as a whole, not as news
            self._stream.answer({"type": "resync", "table": metric.table.name})
        return any(found) or bool(anew)

    def _opened(self) -> list[MetricFile]:
        first = next(iter(self._paths), None)
        return [
            MetricFile(path, None if place < self._num_trainers else first)
            for place, path in enumerate(self._paths)
        ]

    def _forget(self) -> list[MetricTable]:
        """Begin anew with all files, and return the tables that are empty now."""
        self._files = self._opened()
        for file in self._files:
            file.look()
        for metric in self._by_name.values():
            metric.clear(len(self._files))
        return list(self._by_name.values())

    def _read(self, place: int, anew: list[MetricTable], *, begin_s: float) -> bool:
        """Take in what is new in a file; False: nothing is. Tables that begin are added."""
        file = self._files[place]
        wanted = {
            name: metric
            for name in file.new
            if (metric := self._of(neutral(name, longest=LONGEST_NAME), place)) is not None
        }
        for metric, rows in zip(wanted.values(), file.read(list(wanted)), strict=True):
            if metric.place != place:
                metric.clear(place)
            if metric.table.num_rows == 0 and metric not in anew:
                anew.append(metric)
            metric.take(rows, file, begin_s=begin_s)
        return bool(wanted)

    def _of(self, name: str, place: int) -> MetricTable | None:
        """Return the table of a metric of a trainer; None: another's is shown, or none."""
        number = len(self._by_name)
        if name not in self._by_name and number < MOST_METRICS:
            table = f"{self._prefix}metric:{number}"
            self._by_name[name] = MetricTable(name, table, place)
        metric = self._by_name.get(name)
        if metric is None and len(self._left_out) < MOST_NAMES:
            self._left_out.add(name)
        return None if metric is None or place > metric.place else metric
