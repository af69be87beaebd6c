"""Follows a study: its launches' tables, and what is seen so far.

It reads files only, so it works for a study of another process and for one that has ended.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from smtc_lab.follow.run_follower import RunFollower
from smtc_lab.machine.environments.named import other_environment
from smtc_lab.metrics.measured_columns import one_warm_up
from smtc_lab.store.run_folder import RunFolder
from smtc_lab.views.study.estimate import set_up_estimate, with_result
from smtc_lab.views.study.followed_launch import FollowedLaunch
from smtc_lab.views.study.rows import study_rows
from smtc_lab.views.text.set_ups import SetUpsSoFar

if TYPE_CHECKING:
    from smtc_lab.follow.frames import Frame
    from smtc_lab.follow.stream import Stream
    from smtc_lab.follow.table import LiveTable
    from smtc_lab.metrics.compared.comparison import Comparison
    from smtc_lab.study.folder import LaunchedRun
    from smtc_lab.study.study_run import StudyRun
    from smtc_lab.views.text.set_ups import RowInfo, SetUpEstimate

_ESTIMATE_S = 1.0
_LEAST_REST = 10.0
"""An estimate is made at most so many times its own duration after the last one."""


class StudyFollower:
    """The tables of a study, and what is seen so far. Only one thread may look.

    Args:
        run: The study.
        stream: Sends the tables.
    """

    def __init__(self, run: StudyRun, stream: Stream) -> None:
        self.run = run
        self.catalog = run.request.catalog
        """Types and prices."""
        self.jobs = run.request.jobs
        """The set-ups; of a comparison the baseline first."""
        self.prices = [self.catalog.usd_per_hour(job.cluster) for job in self.jobs]
        """Price of each set-up per hour in USD; None: unknown."""
        self.state = run.state
        """Where it stood at the last look."""
        self.launches: list[FollowedLaunch | LaunchedRun] = []
        """The launches so far; those beside the rounds are not followed."""
        self.comparison: Comparison | None = None
        """The comparison of all rounds that are complete; None: there is none."""
        self.rounds = 0
        """Rounds that are in that comparison."""
        self.own_tables: list[LiveTable] = []
        """What is sent beside the tables of its launches."""
        self._estimates: list[SetUpEstimate] | None = None
        self._stream = stream
        self._estimate_s = 0.0
        self._has_news = True

    @property
    def followed(self) -> list[FollowedLaunch]:
        """The launches of rounds, in the order in which they ran."""
        return [each for each in self.launches if isinstance(each, FollowedLaunch)]

    @property
    def num_launches(self) -> int:
        """Launches in all, as far as it is known."""
        return self.state.launches or len(self.jobs) * self.run.request.rounds

    @property
    def newest(self) -> str:
        """The newest launch in words; there is one at least."""
        begun = len(self.launches)
        return f"launch {begun} of {self.num_launches} ({self.state.runs[begun - 1].label})"

    @property
    def is_over(self) -> bool:
        """Whether it has ended and all of it was taken in."""
        return self.state.is_terminal and all(launch.is_over for launch in self.followed)

    def look(self) -> bool:
        """Take in what is new; False: there is nothing to tell.

        Rows go to the stream at once; True is returned about once a second, and when the state
        has changed.

        Raises:
            StoreError: A file is damaged.
        """
        was_over = self.is_over
        self._estimates = None
        before, self.state = self.state, self.run.state
        for launched in self.state.runs[len(self.launches) :]:
            self.launches.append(self._begin(launched))
        completed = len(self._completed())
        looked = [launch.look() for launch in self.followed if not launch.is_over]
        if any(looked):
            self._has_news = True
            self._stream.notify()
        concludes = len(self._completed()) != completed or (self.is_over and not was_over)
        if concludes:
            self._conclude()
        now_s = time.monotonic()
        # the table tells at once what the sentence tells
        is_time = not self.state.is_terminal and (concludes or now_s >= self._estimate_s)
        if self._has_news and (is_time or self.is_over):
            self._has_news = False
            self._settle()
            self._estimate()
            spent_s = time.monotonic() - now_s
            self._estimate_s = now_s + max(_ESTIMATE_S, _LEAST_REST * spent_s)
            return True
        return before != self.state or was_over != self.is_over

    def environment_of(self, set_up: int) -> str:
        """Return the Python environment of a set-up; empty: the one that launches."""
        if launches := self._of(set_up):
            return launches[-1].follower.python_environment
        return other_environment(self.jobs[set_up].python_environment)

    def estimates(self) -> list[SetUpEstimate]:
        """Return what is seen of each set-up since the last look."""
        if self._estimates is None:
            self._estimates = [
                set_up_estimate(self._of(place), job, usd_per_hour=self.prices[place])
                for place, job in enumerate(self.jobs)
            ]
        return self._estimates

    def rows(self) -> tuple[RowInfo, ...]:
        """Return the table of set-ups as it is now."""
        return study_rows(SetUpsSoFar(clusters=self._told()), self.jobs)

    def read(self, table: str, first: int, end: int, most: int) -> Frame | None:
        """Return rows that were asked for in more detail; None: nobody keeps them."""
        for launch in self.followed:
            if (frame := launch.follower.read(table, first, end, most)) is not None:
                return frame
        return None

    def _settle(self) -> None:
        """Leave out as many steps of each launch as the comparison will.

        The launches that have completed tell how many, or else the one that runs.
        """
        counted = self._completed() or self.followed
        measured = [found for each in counted if (found := each.measured()) is not None]
        if measured:
            cut = one_warm_up(measured)
            for launch in self.followed:
                launch.one_warm_up = cut

    def _conclude(self) -> None:
        """Take note that a launch has completed, or that all is over."""

    def _estimate(self) -> None:
        """Add to the own tables what is seen now."""

    def _begin(self, launched: LaunchedRun) -> FollowedLaunch | LaunchedRun:
        labels = [job.cluster.label for job in self.jobs]
        if launched.round is None or launched.label not in labels:
            return launched
        return FollowedLaunch(
            launched,
            RunFollower(
                RunFolder.open(self.run.request.root / launched.job_name),
                self._stream,
                prefix=f"{len(self.launches)}/",
                with_metrics=False,
            ),
            set_up=labels.index(launched.label),
        )

    def _told(self) -> tuple[SetUpEstimate, ...]:
        """Return the estimates with what only complete rounds tell, and their environments."""
        environments = [self.environment_of(place) for place in range(len(self.jobs))]
        return with_result(self.estimates(), self.comparison, environments)

    def _of(self, set_up: int) -> list[FollowedLaunch]:
        return [launch for launch in self.followed if launch.set_up == set_up]

    def _completed(self) -> list[FollowedLaunch]:
        return [launch for launch in self.followed if launch.records is not None]
