"""What is seen of set-ups while their launches still run, from all steps so far."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from smtc_lab.metrics.bootstrap import mean_interval, ratio_interval
from smtc_lab.metrics.cost import saving_interval
from smtc_lab.views.live.step_table import STEP_TABLE_COLUMNS

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

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

_PLACE = {name: place for place, name in enumerate(STEP_TABLE_COLUMNS)}


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
    rows = [rows for launch in launches if (rows := launch.measured()).shape[1]]
    times_s = [each[_PLACE["step_time_s"]] for each in rows]
    total_s = float(sum(each.sum() for each in times_s))
    cpu = {}
    for group in groups:
        of_group = [launch.cpu_times(group) for launch in launches]
        busy_s, known_s = (sum(column) for column in zip((0.0, 0.0), *of_group, strict=True))
        cpu[group] = min(1.0, busy_s / known_s) if known_s > 0 else None
    return SetUpEstimate(
        steps=sum(map(len, times_s)),
        step_time_s=mean_interval(times_s, num_resamples=RESAMPLES) if times_s else None,
        data_wait_fraction=_share(rows, "data_wait_s", total_s),
        device_fraction=_share(rows, "device_time_s", total_s),
        cpu=cpu,
        billed_s=sum(launch.billed_s() for launch in launches),
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
            launch.launched.round: times_s
            for launch in side
            if (times_s := launch.measured(until_s)[_PLACE["step_time_s"]]).size >= LEAST_STEPS
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


def _share(rows: Sequence[NDArray[np.float64]], name: str, total_s: float) -> float | None:
    """Return a column's share of the step time; None: a value is not known, or no step."""
    part = float(sum(each[_PLACE[name]].sum() for each in rows))
    return part / total_s if total_s > 0 and math.isfinite(part) else None
