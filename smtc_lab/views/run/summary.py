"""The steps of a growing run in a few numbers, and what could be better in them."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from smtc_lab.metrics.cost import usd_per_1000_steps
from smtc_lab.metrics.intervals import mean_interval
from smtc_lab.metrics.measured_columns import cpu_of_groups
from smtc_lab.metrics.result import evidence_of
from smtc_lab.metrics.utilization import data_wait_fraction, device_utilization
from smtc_lab.rules.find import RunRules
from smtc_lab.store.rank_means import rank_means
from smtc_lab.views.run.info import RankInfo, SummaryInfo

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from smtc_lab.follow.run_follower import RunFollower
    from smtc_lab.metrics.finding import Finding
    from smtc_lab.metrics.measured_columns import MeasuredColumns
    from smtc_lab.metrics.result import Evidence

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
        self._rules = RunRules(follower.job)
        self._num_steps = 0
        self._next_s = 0.0
        self.latest: SummaryInfo | None = None
        """What was made last; None: no step could be measured yet."""
        self.steps_s: tuple[float, float] | None = None
        """Begin of the first step and end of the last one, in seconds since the epoch; None: no
        step."""
        self.findings: tuple[Finding, ...] = ()
        """What could be better, by what was known then."""

    def look(self, *, usd_per_hour: float | None, last: bool = False) -> bool:
        """Make both anew, if it is time and steps came; False: they stay as they are.

        Args:
            usd_per_hour: Price of all instances; None: unknown.
            last: The run has ended: make them now, with all findings.

        Raises:
            StoreError: A file of the run is damaged.
        """
        begin_s = time.monotonic()
        num_steps = self._follower.steps.num_rows
        if not last and (begin_s < self._next_s or num_steps == self._num_steps):
            return False
        self._num_steps = num_steps
        measured = self._follower.measured()
        self.steps_s = None if measured is None else measured.recorded_window_s
        self.latest = (
            None
            if measured is None
            else _summary(
                measured,
                usd_per_hour,
                evidence_of(self._follower.job),
                self._follower.steps.paths,
            )
        )
        self.findings = self._rules.look(
            measured,
            self._follower.reports,
            ranks=[path.stem for path in self._follower.steps.paths],
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
    paths: Sequence[Path],
) -> SummaryInfo:
    interval = mean_interval([measured.step_time_s]).of(evidence)
    return SummaryInfo(
        steps=len(measured.step_time_s),
        warm_up_steps=measured.warm_up_steps,
        step_time_s=interval,
        data_wait_fraction=data_wait_fraction(measured.steps),
        device_utilization=device_utilization(measured.steps),
        cpu=cpu_of_groups([measured]),
        usd_per_1000_steps=usd_per_1000_steps(step_time_s=interval, usd_per_hour=usd_per_hour),
        ranks=_ranks(paths, measured.warm_up_steps, measured.recorded.shape[1]),
    )


def _ranks(paths: Sequence[Path], first: int, end: int) -> tuple[RankInfo, ...]:
    """Return the means of each of several trainers over the measured steps."""
    if len(paths) < 2:
        return ()
    found = []
    for path, means in zip(paths, rank_means(paths, first, end).T, strict=True):
        host, _, number = path.stem.rpartition("-rank")
        step_s, data_s, exposed_s, wait_s = map(float, means)
        found.append(
            RankInfo(
                rank=int(number),
                host=host,
                step_time_s=step_s,
                data_wait_s=data_s,
                exposed_comm_s=None if np.isnan(exposed_s) else exposed_s,
                rank_wait_s=None if np.isnan(wait_s) else wait_s,
            )
        )
    return tuple(sorted(found, key=lambda one: one.rank))
