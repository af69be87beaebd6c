"""Follows a comparison: its launches' tables, the ratio as it narrows, and the verdict.

It reads files only, so it works for a comparison of another process and for one that has ended.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from smtc_lab.catalog.catalog import Catalog
from smtc_lab.follow.run_follower import RunFollower
from smtc_lab.follow.table import LiveTable
from smtc_lab.machine.environments.named import other_environment
from smtc_lab.metrics.compare import compare_runs
from smtc_lab.store.run_folder import RunFolder
from smtc_lab.views.live.comparison_estimate import (
    RATIO_COLUMNS,
    ratio_row,
    set_up_estimate,
    speedup_so_far,
)
from smtc_lab.views.live.comparison_rows import compiler_rows, final_rows, live_rows
from smtc_lab.views.live.followed_launch import FollowedLaunch

if TYPE_CHECKING:
    from smtc_lab.follow.frames import Frame
    from smtc_lab.follow.stream import Stream
    from smtc_lab.metrics.comparison import Comparison
    from smtc_lab.metrics.result import Interval
    from smtc_lab.study.comparison_run import ComparisonRun
    from smtc_lab.study.folder import LaunchedRun
    from smtc_lab.views.live.comparison_info import RowInfo

_ESTIMATE_S = 1.0
_LEAST_REST = 10.0
"""An estimate is made at most so many times its own duration after the last one."""

_REPLAYED = 60
"""Points at which the ratio of launches that are over is shown."""

_INTERIM_RESAMPLES = 500


class ComparisonFollower:
    """The tables of a comparison, and what is seen so far. Only one thread may look.

    Args:
        run: The comparison.
        stream: Sends the tables.
    """

    def __init__(self, run: ComparisonRun, stream: Stream) -> None:
        self.run = run
        self.catalog = Catalog.load()
        """Types and prices."""
        self.jobs = run.request.jobs
        """What is compared, the baseline first."""
        self.prices = [self.catalog.usd_per_hour(job.cluster) for job in self.jobs]
        """Price of each set-up per hour in USD; None: unknown."""
        self.state = run.state
        """Where it stood at the last look."""
        self.launches: list[FollowedLaunch | LaunchedRun] = []
        """The launches so far; those that only check parity are not followed."""
        self.comparison: Comparison | None = None
        """The comparison of all rounds that are complete; None: none is."""
        self.rounds = 0
        """Rounds that are complete."""
        self.ratios = [
            stream.add(LiveTable(f"ratio:{place}", RATIO_COLUMNS))
            for place in range(1, len(self.jobs))
        ]
        """The speed-up of each set-up over the baseline, as it narrows."""
        self._stream = stream
        self._speedups: list[Interval | None] = [None] * len(self.jobs)
        self._estimate_s = 0.0
        self._latest_s = 0.0
        self._has_news = True
        if self.state.state == "Completed":
            self._compare()

    @property
    def followed(self) -> list[FollowedLaunch]:
        """The launches that are compared, in the order in which they ran."""
        return [each for each in self.launches if isinstance(each, FollowedLaunch)]

    @property
    def is_over(self) -> bool:
        """Whether the comparison has ended and all of it was taken in."""
        return self.state.is_terminal and all(launch.is_over for launch in self.followed)

    def look(self) -> bool:
        """Take in what is new; False: there is nothing to tell.

        Rows go to the stream at once; True is returned about once a second, and when the state
        has changed.

        Raises:
            StoreError: A file is damaged.
        """
        was_over = self.is_over
        before, self.state = self.state, self.run.state
        for launched in self.state.runs[len(self.launches) :]:
            self.launches.append(self._begin(launched))
        completed = len(self._completed())
        looked = [launch.look() for launch in self.followed if not launch.is_over]
        if any(looked):
            self._has_news = True
            self._stream.notify()
        if len(self._completed()) != completed or (self.is_over and not was_over):
            self._compare()
        now_s = time.monotonic()
        is_time = now_s >= self._estimate_s and not self.state.is_terminal
        if self._has_news and (is_time or self.is_over):
            self._has_news = False
            self._push_ratios()
            spent_s = time.monotonic() - now_s
            self._estimate_s = now_s + max(_ESTIMATE_S, _LEAST_REST * spent_s)
            return True
        return before != self.state or was_over != self.is_over

    def environment_of(self, set_up: int) -> str:
        """Return the Python environment of a set-up; empty: the one that launches."""
        if launches := self._of(set_up):
            return launches[-1].follower.python_environment
        return other_environment(self.jobs[set_up].python_environment)

    def rows(self) -> tuple[RowInfo, ...]:
        """Return the table of set-ups as it is now."""
        if self.state.is_terminal and self.comparison is not None:
            return final_rows(self.comparison, self.jobs)
        estimates = [
            set_up_estimate(
                self._of(place),
                [group.instance_group_name for group in job.cluster.instance_groups],
            )
            for place, job in enumerate(self.jobs)
        ]
        rows = live_rows(
            self.jobs,
            self.prices,
            estimates,
            self._speedups,
            [self.environment_of(place) for place in range(len(self.jobs))],
        )
        return (*rows, *compiler_rows(self.comparison, self.jobs))

    def read(self, table: str, first: int, end: int, most: int) -> Frame | None:
        """Return rows that were asked for in more detail; None: nobody keeps them."""
        for launch in self.followed:
            if (frame := launch.follower.read(table, first, end, most)) is not None:
                return frame
        return None

    def _begin(self, launched: LaunchedRun) -> FollowedLaunch | LaunchedRun:
        if launched.round is None:
            return launched
        labels = [job.cluster.label for job in self.jobs]
        return FollowedLaunch(
            launched,
            RunFollower(
                RunFolder.open(self.run.request.root / launched.job_name),
                self._stream,
                prefix=f"{len(self.launches)}/",
            ),
            set_up=labels.index(launched.label),
        )

    def _of(self, set_up: int) -> list[FollowedLaunch]:
        return [launch for launch in self.followed if launch.set_up == set_up]

    def _completed(self) -> list[FollowedLaunch]:
        return [launch for launch in self.followed if launch.records is not None]

    def _compare(self) -> None:
        """Compare what is complete: the result at the end, all whole rounds before it."""
        if self.state.state == "Completed":
            self.comparison, self.rounds = self.run.comparison, self.run.request.rounds
            return
        # the comparison went on without what failed before its newest launch
        failed = {
            launch.set_up
            for launch in self.followed[:-1]
            if launch.is_over and launch.records is None
        }
        competing = [place for place in range(len(self.jobs)) if place not in failed]
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
            self.comparison = compare_runs(
                records,
                catalog=self.catalog,
                created=self.run.request.created.isoformat(timespec="seconds"),
                machine={},
                num_resamples=_INTERIM_RESAMPLES,
            )
        except ValueError:  # a launch took no step; the comparison itself will say so
            return
        self.rounds = len(whole)

    def _push_ratios(self) -> None:
        """Add a point to each ratio; the first time, also those of what is over already."""
        begin_s = self.state.started_s
        if begin_s is None or not self.followed:
            return
        now_s = time.time() if self.state.ended_s is None else self.state.ended_s
        self._latest_s = max(self._latest_s, now_s)
        moments = [self._latest_s]
        if not any(table.num_rows for table in self.ratios) and self.followed[0].is_over:
            moments = list(np.linspace(begin_s, self._latest_s, _REPLAYED + 1)[1:])
        for place, table in enumerate(self.ratios, start=1):
            for moment_s in moments:
                is_last = self.is_over and moment_s == self._latest_s
                seen = self._final_speedup(place) if is_last else None
                seen = seen or speedup_so_far(self._of(0), self._of(place), until_s=moment_s)
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

    def _final_speedup(self, place: int) -> tuple[Interval, int] | None:
        """Return what the verdict tells, so that the curve of the ratio ends there."""
        pairs = () if self.comparison is None else self.comparison.pairs
        label = self.jobs[place].cluster.label
        pair = next((pair for pair in pairs if pair.candidate == label), None)
        if pair is None or self.comparison is None:
            return None
        names = (pair.baseline, pair.candidate)
        clusters = [each for each in self.comparison.clusters if each.name in names]
        return pair.speedup, sum(cluster.steps for cluster in clusters)
