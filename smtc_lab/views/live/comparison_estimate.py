"""What is seen of set-ups while their launches still run, from all steps so far."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from smtc_lab.metrics.bootstrap import mean_interval, ratio_interval
from smtc_lab.metrics.cost import saving_interval
from smtc_lab.metrics.measured_columns import cpu_of_groups
from smtc_lab.metrics.utilization import data_wait_fraction, device_utilization

if TYPE_CHECKING:
    from collections.abc import Sequence

    from smtc_lab.metrics.result import Interval
    from smtc_lab.views.live.followed_launch import FollowedLaunch

RESAMPLES = 200
"""Bootstrap resamples of an interval that is replaced a second later."""

LEAST_STEPS = 10
"""Measured steps of a launch below which it says nothing of a ratio."""

RATIO_COLUMNS = ("time_s", "steps", "mean", "low", "high", "cost", "cost_low", "cost_high")
"""Columns of a ``ratio:<i>`` table: seconds since the begin of the comparison; measured steps
of both sides; the speed-up of the candidate over the baseline with its 95 % interval; its cost
per step over the baseline's. NaN: a price is unknown."""


@dataclass(frozen=True, kw_only=True)
class SetUpEstimate:
    """What is seen of one set-up so far, warm-up left out."""

    steps: int
    """Steps of all its launches."""

    step_time_s: Interval | None
    """Mean step time in seconds; None: no step yet."""

    data_wait_fraction: float | None
    """Data wait over step time; None: no step yet."""

    device_fraction: float | None
    """Device time over step time; None: not known."""

    cpu: dict[str, float | None]
    """By group: CPU time used over CPU time at hand; None: not known."""

    billed_s: float
    """Time of all its launches from start to end, or until now, in seconds."""


def set_up_estimate(launches: Sequence[FollowedLaunch], groups: Sequence[str]) -> SetUpEstimate:
    """Return what is seen of a set-up.

    Args:
        launches: Its launches so far.
        groups: Names of its instance groups.
    """
    billed_s = sum(launch.billed_s() for launch in launches)
    measured = [found for launch in launches if (found := launch.measured()) is not None]
    if not measured:
        return SetUpEstimate(
            steps=0,
            step_time_s=None,
            data_wait_fraction=None,
            device_fraction=None,
            cpu=dict.fromkeys(groups),
            billed_s=billed_s,
        )
    steps = np.concatenate([launch.steps for launch in measured], axis=1)
    return SetUpEstimate(
        steps=steps.shape[1],
        step_time_s=mean_interval(
            [launch.step_time_s for launch in measured], num_resamples=RESAMPLES
        ),
        data_wait_fraction=data_wait_fraction(steps),
        device_fraction=device_utilization(steps),
        cpu=cpu_of_groups(measured),
        billed_s=billed_s,
    )


def speedup_so_far(
    baseline: Sequence[FollowedLaunch],
    candidate: Sequence[FollowedLaunch],
    *,
    until_s: float = math.inf,
) -> tuple[Interval, int] | None:
    """Return the speed-up of a candidate so far, and how many steps tell it.

    A round counts once both sides have 10 measured steps in it: before, one side's launch
    says nothing of how the two compare.

    Args:
        baseline: Launches of the baseline.
        candidate: Launches of the candidate.
        until_s: Only steps that ended before this time, in seconds since the epoch.

    Returns:
        None when no round counts.
    """
    over, under = (
        {
            launch.launched.round: measured.step_time_s
            for launch in side
            if (measured := launch.measured(until_s)) is not None
            and measured.step_time_s.size >= LEAST_STEPS
        }
        for side in (baseline, candidate)
    )
    rounds = [number for number in over if number in under]
    if not rounds:
        return None
    sides = [[side[number] for number in rounds] for side in (over, under)]
    ratio = ratio_interval(*sides, paired=True, num_resamples=RESAMPLES)
    return ratio, sum(len(times_s) for side in sides for times_s in side)


def ratio_row(
    time_s: float,
    seen: tuple[Interval, int],
    *,
    baseline_usd_per_hour: float | None,
    candidate_usd_per_hour: float | None,
) -> tuple[float, ...]:
    """Return a row of a ratio table, values as in ``RATIO_COLUMNS``."""
    speedup, steps = seen
    saving = saving_interval(
        speedup=speedup,
        baseline_usd_per_hour=baseline_usd_per_hour,
        candidate_usd_per_hour=candidate_usd_per_hour,
    )
    costs = (
        (math.nan,) * 3
        if saving is None
        else (1 - saving.mean, 1 - saving.high, 1 - saving.low)
    )
    return (time_s, float(steps), speedup.mean, speedup.low, speedup.high, *costs)
