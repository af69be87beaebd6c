"""A launch of a comparison as it goes on."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from smtc_lab.follow.loader_counts import LoaderCounts
from smtc_lab.follow.run_follower import rank_files
from smtc_lab.metrics.bill import bill_of
from smtc_lab.metrics.records.interrupted import interrupted
from smtc_lab.metrics.result import evidence_of
from smtc_lab.store.reader import read_run

if TYPE_CHECKING:
    from smtc_lab.follow.run_follower import RunFollower
    from smtc_lab.metrics.bill import Bill
    from smtc_lab.metrics.compared.prepared import Served
    from smtc_lab.metrics.measured_columns import MeasuredColumns
    from smtc_lab.metrics.records.records import RunRecords
    from smtc_lab.study.folder import LaunchedRun


class FollowedLaunch:
    """A launch whose run is followed.

    Args:
        launched: Which launch it is.
        follower: Follows its run.
        set_up: Place of its set-up in the comparison.
    """

    def __init__(self, launched: LaunchedRun, follower: RunFollower, *, set_up: int) -> None:
        self.launched = launched
        self.follower = follower
        self.set_up = set_up
        self.records: RunRecords | None = None
        """Everything that was recorded, once it has completed."""
        self.one_warm_up: int | None = None
        """Steps that all launches of its study leave out; None: its own are not known yet."""
        self.is_over = False
        """Whether it has ended and all of it was taken in."""
        self._final: MeasuredColumns | None = None
        self._loaders = LoaderCounts(rank_files(follower.folder, follower.plan))

    @property
    def has_more(self) -> bool:
        """Whether it has ended, and not all of it was taken in yet."""
        return self.follower.state.is_terminal and not self.is_over

    @property
    def served(self) -> Served:
        """The batches that its ranks got so far."""
        return self._loaders.served

    @property
    def warm_up_steps(self) -> int:
        """Steps at its begin that are left out, as far as it is known by now."""
        measured = self.measured()
        return 0 if measured is None else measured.warm_up_steps

    def look(self) -> bool:
        """Take in what is new; False: nothing is.

        Raises:
            StoreError: A file of the run is damaged.
        """
        found = self.follower.look()
        is_over = self.follower.state.is_terminal and not found
        self._loaders.look(is_last=is_over)
        if is_over:
            self.is_over = True
            self._final = self.follower.measured()
            if self.follower.state.state == "Completed":
                self.records = read_run(self.follower.folder)
            return True
        return found

    def measured(self, until_s: float = math.inf) -> MeasuredColumns | None:
        """Return what is measured so far; None: no step.

        Args:
            until_s: Only steps that ended before this time, in seconds since the epoch.

        Raises:
            StoreError: A file of the run is damaged.
        """
        found = self._final
        if found is None or found.end_s > until_s:
            found = self.follower.measured(until_s=until_s)
        if found is None or self.one_warm_up is None:
            return found
        most = (found.recorded.shape[1] - found.probed_steps) // 2
        return found.with_warm_up(min(self.one_warm_up, most))

    def is_whole(self, until_s: float = math.inf) -> bool:
        """Return whether it had completed before a time, in seconds since the epoch."""
        final = self._final
        return self.records is not None and final is not None and final.end_s <= until_s

    def bill(self, *, usd_per_hour: float | None) -> Bill | None:
        """Return where its time went, or goes so far; None: no step.

        Args:
            usd_per_hour: Price of its cluster; None: unknown.
        """
        measured = self.measured()
        if measured is None:
            return None
        state = self.follower.state
        return bill_of(
            started_s=state.started_s,
            steps=measured.recorded_window_s,
            ended_s=state.ended_s,
            usd_per_hour=usd_per_hour,
            evidence=evidence_of(self.follower.job),
            interrupted=interrupted(
                state.attempts, measured.recorded_times_s, ended_s=state.ended_s
            ),
            dilation=self.follower.dilation,
        )

    def billed_s(self) -> float:
        """Return the seconds from its start until its end, or until now."""
        return self.follower.state.billed_s or 0.0
