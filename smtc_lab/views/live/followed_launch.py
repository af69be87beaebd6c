"""One launch of a comparison while it is watched: its tables, and its steps as they come."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING

import numpy as np

from smtc_lab.metrics.measured_launch import measured_launch
from smtc_lab.metrics.warm_up import warm_up_steps
from smtc_lab.store.reader import read_run
from smtc_lab.views.live.growing import Growing
from smtc_lab.views.live.host_table import cpu_fraction
from smtc_lab.views.live.step_table import STEP_TABLE_COLUMNS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smtc_lab.launch.comparison_folder import LaunchedRun
    from smtc_lab.metrics.records import RunRecords
    from smtc_lab.views.live.run_follower import RunFollower

_TIME = STEP_TABLE_COLUMNS.index("time_s")
_STEP_TIME = STEP_TABLE_COLUMNS.index("step_time_s")
_SAMPLE_TIME, _SAMPLE_INTERVAL = 0, 1


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
        self._rows = Growing(len(STEP_TABLE_COLUMNS))
        self._warm_up: int | None = None

    @property
    def warm_up_steps(self) -> int:
        """Steps at its begin that are left out, as far as it is known by now."""
        if self._warm_up is not None:
            return self._warm_up
        return warm_up_steps(self._rows.values[_STEP_TIME])

    def look(self) -> bool:
        """Take in what is new; False: nothing is.

        Raises:
            StoreError: A file of the run is damaged.
        """
        found = self.follower.look()
        if self.follower.state.is_terminal and not found:
            self.is_over = True
            if self.follower.state.state == "Completed":
                self.records = read_run(self.follower.folder)
                launch = measured_launch(self.records)
                self._warm_up = None if launch is None else launch.warm_up_steps
            return True
        return found

    def measured(self, until_s: float = math.inf) -> NDArray[np.float64]:
        """Return the steps behind the warm-up, shape (6, N), columns as in the step table.

        Args:
            until_s: Only steps that ended before this time, in seconds since the epoch.
        """
        steps = self.follower.steps
        if steps.num_rows > self._rows.num_rows:
            self._rows.append(steps.rows(self._rows.num_rows))
        rows = self._rows.values
        rows = rows[:, rows[_TIME] + (self.follower.begin_s or 0.0) <= until_s]
        whole = rows.shape[1] == self._rows.num_rows and self._warm_up is not None
        cut = self._warm_up if whole else warm_up_steps(rows[_STEP_TIME])
        measured: NDArray[np.float64] = rows[:, cut:]
        return measured[:, measured[_STEP_TIME] > 0]

    def billed_s(self) -> float:
        """Return the seconds from its start until its end, or until now."""
        state = self.follower.state
        if state.started_s is None:
            return 0.0
        ended_s = time.time() if state.ended_s is None else state.ended_s
        return max(0.0, ended_s - state.started_s)

    def cpu_times(self, group: str) -> tuple[float, float]:
        """Return how busy a group's CPUs were since the warm-up: used and known seconds."""
        rows, begin_s = self.measured(), self.follower.begin_s
        if rows.shape[1] == 0 or begin_s is None:
            return 0.0, 0.0
        first_s = begin_s + rows[_TIME, 0] - rows[_STEP_TIME, 0]
        busy_s = known_s = 0.0
        num_cores = self.follower.state.facts.get("num_cores")
        for host, of_group in self.follower.job.cluster.hosts().items():
            if of_group.instance_group_name != group:
                continue
            samples = self.follower.hosts[host].samples.values
            samples = samples[:, samples[_SAMPLE_TIME] > first_s]
            fraction = cpu_fraction(
                samples,
                quota_cores=self.follower.quota_cores(host),
                num_cores=float(num_cores) if isinstance(num_cores, int | float) else None,
            )
            known = ~np.isnan(fraction)
            busy_s += float((fraction * samples[_SAMPLE_INTERVAL])[known].sum())
            known_s += float(samples[_SAMPLE_INTERVAL, known].sum())
        return busy_s, known_s
