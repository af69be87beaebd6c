"""The speed-up of set-ups while their launches still run, from the rounds that are whole."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from smtc_lab.metrics.cost import saving_interval
from smtc_lab.metrics.intervals import ratio_interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    from smtc_lab.metrics.result import Interval
    from smtc_lab.views.study.followed_launch import FollowedLaunch

LEAST_STEPS = 10
"""Measured steps of a launch below which it says nothing of a ratio."""

RATIO_COLUMNS = ("time_s", "steps", "mean", "low", "high", "cost", "cost_low", "cost_high")
"""Columns of a ``ratio:<i>`` table: seconds since the begin of the comparison; measured steps
of both sides; the speed-up of the candidate over the baseline with its 95 % interval; its cost
per step over the baseline's. NaN: a price is unknown."""


def speedup_so_far(
    baseline: Sequence[FollowedLaunch],
    candidate: Sequence[FollowedLaunch],
    *,
    until_s: float = math.inf,
    candidates: int = 1,
    looks: int = 1,
) -> tuple[Interval, int] | None:
    """Return the speed-up of a candidate so far, and how many steps tell it.

    A round counts once both its launches are whole. Before the first one is, the steps of its
    launches tell a ratio of their own, from 10 measured steps of both sides on.

    Args:
        baseline: Launches of the baseline.
        candidate: Launches of the candidate.
        until_s: Only steps that ended before this time, in seconds since the epoch.
        candidates: Set-ups that are compared with this baseline.
        looks: Moments at which the speed-up is told.

    Returns:
        None when no round counts.
    """
    over, under = (
        {
            launch.launched.round: (measured.step_time_s, launch.is_whole(until_s))
            for launch in side
            if (measured := launch.measured(until_s)) is not None
            and measured.step_time_s.size >= LEAST_STEPS
        }
        for side in (baseline, candidate)
    )
    both = [number for number in over if number in under]
    whole = [number for number in both if over[number][1] and under[number][1]]
    if not both:
        return None
    rounds = whole or both[:1]
    sides = [[side[number][0] for number in rounds] for side in (over, under)]
    ratio = ratio_interval(*sides, paired=True, candidates=candidates, looks=looks)
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
