"""The steps of a growing run in a few numbers, and what could be better in them."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from smtc_lab.metrics.cost import usd_per_1000_steps
from smtc_lab.metrics.intervals import mean_interval
from smtc_lab.metrics.measured_columns import cpu_of_groups
from smtc_lab.metrics.records.facts import as_asked
from smtc_lab.metrics.result import evidence_of
from smtc_lab.metrics.utilization import data_wait_fraction, device_utilization
from smtc_lab.rules.find import RunRules
from smtc_lab.views.run.info import SummaryInfo
from smtc_lab.views.run.pipeline.told import pipeline_info
from smtc_lab.views.run.ranks import RankSummarizer

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from smtc_lab.follow.run_follower import RunFollower
    from smtc_lab.metrics.finding import Finding
    from smtc_lab.metrics.measured_columns import MeasuredColumns
    from smtc_lab.metrics.records.attempts import Attempt
    from smtc_lab.metrics.result import Evidence
    from smtc_lab.views.run.pipeline.info import PipelineInfo
    from smtc_lab.views.run.rank_info import RankInfo

_EVERY_S = 1.0
_SHARE = 20
"""A look that took t seconds is made again after 20 t at the earliest: 5 % of a core."""


class RunSummarizer:
    """Sums up the steps that a follower has seen, and runs every rule, at most once a second.

    Args:
        follower: Of the run.
    """

    def __init__(self, follower: RunFollower) -> None:
        self._follower = follower
        self._rules = RunRules(as_asked(follower.job, follower.plan.get("facts")))
        self.ranks = RankSummarizer(dilation=follower.dilation)
        """Its trainers, each by itself."""
        self.pipeline: PipelineInfo | None = None
        """The stages of its model; None: it is not cut, or not yet."""
        self._num_steps = 0
        self._attempts: tuple[Attempt, ...] = ()
        self._next_s = 0.0
        self.latest: SummaryInfo | None = None
        """What was made last; None: no step could be measured yet."""
        self.times_s: NDArray[np.float64] | None = None
        """Begin and end of each step, shape (2, N), in seconds since the epoch."""
        self.steps_s: tuple[float, float] | None = None
        """Begin of the first step and end of the last one, in seconds since the epoch; None: no
        step."""
        self.findings: tuple[Finding, ...] = ()
        """What could be better, by what was known then."""

    def look(self, *, usd_per_hour: float | None, last: bool = False) -> bool:
        """Make both anew, if it is time and steps came, or an attempt began or ended.

        False: they stay as they are.

        Args:
            usd_per_hour: Price of all instances; None: unknown.
            last: The run has ended: make them now, with all findings.

        Raises:
            StoreError: A file of the run is damaged.
        """
        begin_s = time.monotonic()
        num_steps = self._follower.steps.num_rows
        attempts = self._follower.state.attempts
        is_due = last or attempts != self._attempts
        if not is_due and (begin_s < self._next_s or num_steps == self._num_steps):
            return False
        self._attempts = attempts
        self._num_steps = num_steps
        measured = self._follower.measured()
        times = self._follower.pipeline()
        self.pipeline = None if times is None else pipeline_info(times)
        self.steps_s = None if measured is None else measured.recorded_window_s
        self.times_s = None if measured is None else measured.recorded_times_s
        self.latest = None
        if measured is not None:
            self.ranks.look(
                self._follower.steps.paths,
                first=measured.warm_up_steps,
                end=measured.recorded.shape[1],
            )
            evidence = evidence_of(self._follower.job)
            self.latest = _summary(measured, usd_per_hour, evidence, self.ranks.latest)
        self.findings = self._rules.look(
            measured,
            self._follower.reports,
            ranks=[path.stem for path in self._follower.steps.paths],
            pipeline=times,
            usd_per_hour=usd_per_hour,
            has_ended=last,
            has_completed=last and self._follower.state.state == "Completed",
        )
        spent_s = time.monotonic() - begin_s
        self._next_s = begin_s + max(_EVERY_S, _SHARE * spent_s)
        return True


def _summary(
    measured: MeasuredColumns,
    usd_per_hour: float | None,
    evidence: Evidence,
    ranks: tuple[RankInfo, ...],
) -> SummaryInfo:
    interval = mean_interval([measured.step_time_s]).of(evidence)
    num_samples = measured.num_samples()
    return SummaryInfo(
        steps=len(measured.step_time_s),
        warm_up_steps=measured.warm_up_steps,
        step_time_s=interval,
        data_wait_fraction=data_wait_fraction(measured.steps),
        device_utilization=device_utilization(measured.steps),
        cpu=cpu_of_groups([measured]),
        usd_per_1000_steps=usd_per_1000_steps(step_time_s=interval, usd_per_hour=usd_per_hour),
        samples_per_step=num_samples and num_samples / len(measured.step_time_s),
        ranks=ranks,
    )
