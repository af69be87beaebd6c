"""A launch of a comparison as it goes on."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from smtc_lab.store.reader import read_run
from smtc_lab.store.state import lasted_s

if TYPE_CHECKING:
    from smtc_lab.follow.run_follower import RunFollower
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
        self.is_over = False
        """Whether it has ended and all of it was taken in."""
        self._final: MeasuredColumns | None = None

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
        if self.follower.state.is_terminal and not found:
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
        final = self._final
        if final is not None and final.end_s <= until_s:
            return final
        return self.follower.measured(until_s=until_s)

    def billed_s(self) -> float:
        """Return the seconds from its start until its end, or until now."""
        state = self.follower.state
        return lasted_s(state.started_s, state.ended_s) or 0.0
