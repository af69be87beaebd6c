"""Follows a comparison: the ratio as it narrows, and the verdict."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from smtc_lab.follow.table import LiveTable
from smtc_lab.metrics.compared.compare import compare_runs
from smtc_lab.metrics.compared.comparison import Comparison
from smtc_lab.metrics.compared.pair_result import PairResult
from smtc_lab.metrics.cost import saving_interval
from smtc_lab.metrics.result import evidence_of
from smtc_lab.views.comparison.estimate import RATIO_COLUMNS, ratio_row, speedup_so_far
from smtc_lab.views.study.follower import StudyFollower
from smtc_lab.views.study.rows import study_rows
from smtc_lab.views.text.set_ups import SetUpsSoFar

if TYPE_CHECKING:
    from collections.abc import Sequence

    from smtc_lab.follow.stream import Stream
    from smtc_lab.metrics.records.records import RunRecords
    from smtc_lab.metrics.result import Interval
    from smtc_lab.study.study_run import StudyRun
    from smtc_lab.views.text.set_ups import RowInfo

_REPLAYED = 60
"""Points at which the ratio of launches that are over is shown."""


class ComparisonFollower(StudyFollower):
    """The tables of a comparison: a ratio for each set-up but the baseline."""

    def __init__(self, run: StudyRun, stream: Stream) -> None:
        super().__init__(run, stream)
        self.own_tables = [
            stream.add(LiveTable(f"ratio:{place}", RATIO_COLUMNS))
            for place in range(1, len(self.jobs))
        ]
        self._speedups: list[Interval | None] = [None] * len(self.jobs)
        self._latest_s = 0.0
        if self.state.state == "Completed":
            self._conclude()

    def rows(self) -> tuple[RowInfo, ...]:
        """Return the table of set-ups as it is now."""
        if self.state.is_terminal and self.comparison is not None:
            return study_rows(self.comparison, self.jobs)
        pairs = [self._pair(place) for place in range(1, len(self.jobs))]
        so_far = SetUpsSoFar(
            clusters=self._told(),
            pairs=tuple(pair for pair in pairs if pair is not None),
            is_compared=True,
        )
        return study_rows(so_far, self.jobs)

    def _result(self) -> Comparison | None:
        written = self.run.result_json
        return None if written is None else Comparison.from_json(written)

    def _conclude(self) -> None:
        """Compare what is complete: the result at the end, all whole rounds before it."""
        if self.state.state == "Completed":
            self.comparison = self._result()
            clusters = () if self.comparison is None else self.comparison.clusters
            self.rounds = max((each.launches for each in clusters), default=0)
            return
        # the comparison went on without what failed before its newest launch
        failed = {
            launch.set_up
            for launch in self.followed[:-1]
            if launch.is_over and launch.records is None
        }
        competing = [place for place in range(len(self.jobs)) if place not in failed]
        if not competing:
            return
        whole = set.intersection(
            *(
                {launch.launched.round for launch in self._of(place) if launch.records}
                for place in competing
            )
        )
        if len(whole) == self.rounds:
            return
        records = [
            launch.records
            for place in competing
            for launch in self._of(place)
            if launch.records is not None and launch.launched.round in whole
        ]
        try:
            self.comparison = self._compared(records)
        except ValueError:  # a launch took no step; the comparison itself will say so
            return
        self.rounds = len(whole)

    def _compared(self, records: Sequence[RunRecords]) -> Comparison:
        """Return what whole rounds say, of at least one launch of each set-up."""
        return compare_runs(
            records,
            catalog=self.catalog,
            created=self.run.request.created.isoformat(timespec="seconds"),
            machine={},
            looks=self._looks,
        )

    def _estimate(self) -> None:
        """Add a point to each ratio; the first time, also those of what is over already."""
        begin_s = self.state.started_s
        if begin_s is None or not self.followed:
            return
        if any(launch.has_more for launch in self.followed):  # the next look takes it in
            return
        now_s = time.time() if self.state.ended_s is None else self.state.ended_s
        self._latest_s = max(self._latest_s, now_s)
        moments = [self._latest_s]
        if not any(table.num_rows for table in self.own_tables) and self.followed[0].is_over:
            moments = list(np.linspace(begin_s, self._latest_s, _REPLAYED + 1)[1:])
        for place, table in enumerate(self.own_tables, start=1):
            for moment_s in moments:
                is_last = moment_s == self._latest_s
                seen = self._told_speedup(place) if is_last else None
                seen = seen or speedup_so_far(
                    self._of(0),
                    self._of(place),
                    until_s=moment_s,
                    candidates=len(self.own_tables),
                    looks=self._looks,
                )
                if seen is None:
                    continue
                self._speedups[place] = seen[0]
                table.push(
                    *ratio_row(
                        moment_s - begin_s,
                        seen,
                        baseline_usd_per_hour=self.prices[0],
                        candidate_usd_per_hour=self.prices[place],
                    )
                )
        self._stream.notify()

    @property
    def _looks(self) -> int:
        """Rounds after which a ratio is told before the last one: from the second one on.

        Where the rounds may end early, any of them may be the last one.
        """
        is_planned = self.run.request.options.get("within") is None
        return max(1, self.run.request.rounds - (2 if is_planned else 1))

    def _told_speedup(self, place: int) -> tuple[Interval, int] | None:
        """Return what the verdict tells, so that the curve of the ratio ends there."""
        pair = self._told_pair(place)
        if pair is None or self.comparison is None:
            return None
        names = (pair.baseline, pair.candidate)
        clusters = [each for each in self.comparison.clusters if each.name in names]
        return pair.speedup, sum(cluster.steps for cluster in clusters)

    def _told_pair(self, place: int) -> PairResult | None:
        """Return what the complete rounds tell of a set-up and the baseline."""
        pairs = () if self.comparison is None else self.comparison.pairs
        label = self.jobs[place].cluster.label
        return next((pair for pair in pairs if pair.candidate == label), None)

    def _pair(self, place: int) -> PairResult | None:
        """Return that, or before a round is complete what its steps tell."""
        told, speedup = self._told_pair(place), self._speedups[place]
        if told is not None or speedup is None:
            return told
        baseline, candidate = self.jobs[0], self.jobs[place]
        return PairResult(
            baseline=baseline.cluster.label,
            candidate=candidate.cluster.label,
            speedup=speedup,
            saving_fraction=saving_interval(
                speedup=speedup,
                baseline_usd_per_hour=self.prices[0],
                candidate_usd_per_hour=self.prices[place],
            ),
            saving_per_job_fraction=None,
            evidence=evidence_of(baseline, candidate),
            verdict="",
        )
