"""What a compiler costs before it pays: compile overhead, break-even step, time of a job."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from smtc_lab.metrics.intervals import launch_interval
from smtc_lab.metrics.result import Interval, Result

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from smtc_lab.metrics.compared.measured_cluster import MeasuredCluster
    from smtc_lab.metrics.measured_launch import MeasuredLaunch

JOB_STEPS = (100, 1_000)
"""Lengths of jobs, in steps, whose time is predicted beside that of the job itself."""


class JobTime(Result):
    """Time of a job of so many steps, predicted: overhead and steady steps; no start-up."""

    steps: int
    """Length of the job in steps."""

    total_s: Interval
    """Predicted time of all its steps in seconds."""


class BreakEven(Result):
    """When a set-up has earned its overhead back against the baseline."""

    steps: Interval | None
    """Steps after which both have taken the same time. None: never, by what was seen, because
    the interval of the speed-up does not lie above 1."""

    is_slower: bool
    """Whether its steady steps are certainly slower than the baseline's."""


def overhead_s(launch: MeasuredLaunch) -> float:
    """Return the time that a launch's first steps took beyond as many steady ones, in seconds.

    Besides compiling it holds what every first step pays: allocation, connections, queues.
    """
    warm_up_s = launch.warm_up_time_s
    return float(warm_up_s.sum() - len(warm_up_s) * launch.step_time_s.mean())


def overhead_interval(measured: MeasuredCluster) -> Interval:
    """Return the mean overhead of a set-up's launches in seconds, with its 95 % interval.

    One launch shows no spread: then both ends are its overhead.
    """
    overheads_s = [overhead_s(launch) for launch in measured.launches]
    return launch_interval(overheads_s).of(measured.evidence)


def break_even(
    *, baseline: MeasuredCluster, candidate: MeasuredCluster, speedup: Interval
) -> BreakEven:
    """Return after how many steps the candidate has caught up with the baseline.

    Overhead beyond the baseline's own, over the time that a steady step saves. The interval
    takes the worst and the best end of both, so it is rather too wide than too narrow.

    Args:
        baseline: The set-up to catch up with.
        candidate: The set-up that may be slow at first.
        speedup: Steady step time of the baseline over that of the candidate.
    """
    if (side := speedup.side_of(1)) < 1:
        return BreakEven(steps=None, is_slower=side < 0)
    extra_s = _extra_overhead(baseline, candidate)
    steady_s = float(np.concatenate(baseline.step_times_s).mean())
    saved_s, low_s, high_s = (
        steady_s * (1 - 1 / ratio) for ratio in (speedup.mean, speedup.low, speedup.high)
    )
    steps = Interval(
        mean=max(0.0, extra_s.mean / saved_s),
        low=max(0.0, extra_s.low / high_s),
        high=max(0.0, extra_s.high / low_s),
        evidence="predicted",
    )
    return BreakEven(steps=steps, is_slower=False)


def job_times(
    *, overhead_s: Interval, step_time_s: Interval, job_steps: int | None
) -> tuple[JobTime, ...]:
    """Return the predicted time of jobs of 100 and 1,000 steps, and of the job itself."""
    lengths = sorted({*JOB_STEPS, *(() if job_steps is None else (job_steps,))})
    return tuple(
        JobTime(
            steps=steps,
            total_s=Interval(
                mean=overhead_s.mean + steps * step_time_s.mean,
                low=overhead_s.low + steps * step_time_s.low,
                high=overhead_s.high + steps * step_time_s.high,
                evidence="predicted",
            ),
        )
        for steps in lengths
    )


def cumulative_time_s(
    launches: Sequence[NDArray[np.float64]], *, steady_s: float, steps: int
) -> tuple[NDArray[np.float64], int]:
    """Return the time that the first 0, 1, …, ``steps`` steps took, and how many were seen.

    Args:
        launches: Every step time of each launch, warm-up included, in seconds, each (S,).
        steady_s: Mean steady step time in seconds, by which what was not seen is predicted.
        steps: Length of the curve.

    Returns:
        Mean over the launches in seconds, shape (steps + 1,), and the number of steps that
        every launch took, at most ``steps``; what is behind them is predicted.
    """
    seen = min([steps, *(len(values) for values in launches)])
    per_step = np.full(steps, steady_s)
    if launches:
        per_step[:seen] = np.mean([values[:seen] for values in launches], axis=0)
    return np.concatenate([[0.0], np.cumsum(per_step)]), seen if launches else 0


def _extra_overhead(baseline: MeasuredCluster, candidate: MeasuredCluster) -> Interval:
    """Return the candidate's overhead less the baseline's; launches of one round are pairs."""
    if baseline.rounds == candidate.rounds:
        pairs = zip(candidate.launches, baseline.launches, strict=True)
        return launch_interval([overhead_s(a) - overhead_s(b) for a, b in pairs])
    over, under = overhead_interval(candidate), overhead_interval(baseline)
    return Interval(
        mean=over.mean - under.mean, low=over.low - under.high, high=over.high - under.low
    )
