"""How busy devices, CPUs and trainers were, as fractions (0-1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from smtc_lab.metrics.columns import STEP, SYSTEM
from smtc_lab.metrics.intervals import share_interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from smtc_lab.metrics.result import Interval

LEAST_DELIVERED_S = 5.0
"""Time below which a delivered share tells nothing, in seconds: ten looks."""

_TIME, _INTERVAL = SYSTEM["time_s"], SYSTEM["interval_s"]
_USED, _ASKED, _QUOTA = SYSTEM["cpu_used_s"], SYSTEM["cpu_asked_s"], SYSTEM["cpu_quota_cores"]


def device_utilization(steps: NDArray[np.float64]) -> float | None:
    """Return the share of the step time in which the device computed.

    Args:
        steps: Measured steps of a job, shape (C, S), columns as in ``STEP_COLUMNS``.

    Returns:
        Device time over step time, both summed over steps and ranks. None when there is no
        step, or the device time of one is not known.
    """
    return _share(steps, "device_time_s")


def data_wait_fraction(steps: NDArray[np.float64]) -> float | None:
    """Return the share of the step time in which trainers waited for the next batch.

    Args:
        steps: Measured steps of a job, shape (C, S), columns as in ``STEP_COLUMNS``.

    Returns:
        Data wait over step time, both summed over steps and ranks, so that long steps weigh
        more than short ones. None when there is no step.
    """
    return _share(steps, "data_wait_s")


def samples_between(
    samples: NDArray[np.float64], *, begin_s: float, end_s: float
) -> NDArray[np.float64]:
    """Return the parts of system samples that lie in a window of time.

    A sample that reaches over an edge is cut there; its CPU time is taken to be spread evenly
    over its interval.

    Args:
        samples: Samples of one instance, shape (9, N), columns as in ``SYSTEM_COLUMNS``.
        begin_s: Begin of the window, in seconds since the epoch.
        end_s: End of the window, in seconds since the epoch.
    """
    sample_begin_s = np.maximum(begin_s, samples[_TIME] - samples[_INTERVAL])
    length_s = np.minimum(end_s, samples[_TIME]) - sample_begin_s
    counts = length_s > 0
    inside = samples[:, counts].copy()
    length_s = length_s[counts]
    share = length_s / inside[_INTERVAL]
    inside[_TIME] = sample_begin_s[counts] + length_s
    inside[_INTERVAL] = length_s
    inside[_USED] *= share
    inside[_ASKED] *= share
    return inside


def cpu_utilization(
    samples: NDArray[np.float64], *, num_cores: float | None = None
) -> float | None:
    """Return the CPU time that instances used over the CPU time they had.

    Args:
        samples: Samples of all instances of a group, cut to the measured window, shape (9, N).
        num_cores: Cores of the machine, which an instance without a quota has for itself.
            None: unknown.

    Returns:
        Used core-seconds over quota times time. Where samples have a quota, those without one
        are from before it was applied and are left out; where none has, the cores of the
        machine stand in for it. None when there is no sample, or neither is known. At most 1:
        a quota is given out in periods, and a window that ends within one can hold up to one
        period more than its time allows.
    """
    cores = samples[_QUOTA]
    if num_cores is not None and np.isnan(cores).all():
        cores = np.full(cores.shape, num_cores)
    known = ~np.isnan(cores)
    available_s = float((samples[_INTERVAL] * cores)[known].sum())
    if available_s <= 0:
        return None
    return min(1.0, float(samples[_USED, known].sum()) / available_s)


def cpu_delivered_fraction(samples: NDArray[np.float64]) -> float | None:
    """Return the CPU time that instances got over the CPU time they asked for.

    Args:
        samples: Samples of all instances of a group, cut to the measured window, shape (9, N).
            Only those with a quota count.

    Returns:
        1: the quota was really delivered. Lower: the machine was busy with other things. Used
        CPU time and limits are summed over the window first, because a quota is given out in
        periods that samples cut; at most 1. None: no sample has a quota, or nothing was asked
        for.
    """
    limited = samples[:, ~np.isnan(samples[_QUOTA])]
    used_s = float(limited[_USED].sum())
    allowed_s = float((limited[_INTERVAL] * limited[_QUOTA]).sum())
    asked_s = max(used_s, min(float(limited[_ASKED].sum()), allowed_s))
    return used_s / asked_s if asked_s > 0 else None


def delivered_interval(launches: Sequence[NDArray[np.float64]]) -> Interval | None:
    """Return ``cpu_delivered_fraction`` of several launches with its 95 % interval.

    Args:
        launches: Samples of a group's instances in each launch, cut to its measured window,
            each of shape (9, N).

    Returns:
        None: the windows are shorter than ``LEAST_DELIVERED_S`` together, so that nothing can
        be told of it, or there is no such share.
    """
    mean = cpu_delivered_fraction(np.concatenate(launches, axis=1))
    if mean is None or delivered_over_s(launches) < LEAST_DELIVERED_S:
        return None
    shares = [cpu_delivered_fraction(samples) for samples in launches]
    return share_interval(mean, [share for share in shares if share is not None])


def delivered_over_s(launches: Sequence[NDArray[np.float64]]) -> float:
    """Return how long a quota was looked at in all launches together, in seconds.

    Several instances of a group that are looked at side by side count one by one.
    """
    return sum(float(each[_INTERVAL, ~np.isnan(each[_QUOTA])].sum()) for each in launches)


def _share(steps: NDArray[np.float64], column: str) -> float | None:
    """Return a column's share of the ranks' step times; NaN in it is not known."""
    total_s = float(steps[STEP["rank_time_s"]].sum())
    part_s = float(steps[STEP[column]].sum())
    return part_s / total_s if total_s > 0 and np.isfinite(part_s) else None
