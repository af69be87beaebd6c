"""What a step's time goes to over all ranks, and what more devices add to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from smtc_lab.metrics.intervals import difference_interval
from smtc_lab.metrics.scaling.scaling import CAUSES, LostPart

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from smtc_lab.metrics.result import Interval


def parts_of_steps(
    step_time_s: NDArray[np.float64],
    data_wait_s: NDArray[np.float64],
    device_time_s: NDArray[np.float64],
    exposed_comm_s: NDArray[np.float64],
    rank_wait_s: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return where the time of each step of the job goes; the parts add up to it.

    A job's step is its slowest rank's. Where ranks recorded their exchange of gradients, it
    tells the network's time from the wait for the slowest rank; where not, that wait is how
    much longer than the mean the slowest rank was busy, and communication is not known.

    Args:
        step_time_s: Of each rank, shape (R, S).
        data_wait_s: Of each rank, shape (R, S).
        device_time_s: In which each rank computed, shape (R, S); NaN: not known.
        exposed_comm_s: In which each rank exchanged gradients and computed nothing, shape
            (R, S); NaN: not known.
        rank_wait_s: In which each rank waited for a slower one's gradients, shape (R, S); NaN:
            not known.

    Returns:
        Seconds, shape (5, S), rows as ``CAUSES``. NaN: not known, and part of ``other``.
    """
    time_s = step_time_s.max(axis=0)
    data_s, compute_s = data_wait_s.mean(axis=0), device_time_s.mean(axis=0)
    straggling_s, exchange_s = rank_wait_s.mean(axis=0), exposed_comm_s.mean(axis=0)
    if np.isnan(straggling_s + exchange_s).any():
        own_s = data_wait_s + device_time_s
        own_s = step_time_s if np.isnan(own_s).any() else own_s
        straggling_s = np.clip(own_s.max(axis=0) - own_s.mean(axis=0), 0.0, time_s)
        exchange_s = np.full_like(time_s, np.nan)
    told = np.array([data_s, straggling_s, exchange_s, compute_s])
    return np.vstack([told, time_s - np.nansum(told, axis=0)])


def lost_parts(
    launches: Sequence[NDArray[np.float64]],
    baseline: Sequence[NDArray[np.float64]],
    *,
    growth: float,
    candidates: int = 1,
    looks: int = 1,
) -> tuple[Interval, tuple[LostPart, ...]]:
    """Return the time of a step beyond the ideal one, and what it goes to.

    Args:
        launches: Parts of the steps of each launch, each of shape (5, S).
        baseline: The same of the fewest devices.
        growth: Ideal step time over that of the baseline: 1 in weak scaling, 1/n in strong.
        candidates: Numbers of devices that are compared with the baseline.
        looks: Times at which it is looked at and may be believed.

    Returns:
        The loss in seconds, and its parts, which add up to it. A part that one side does not
        know is in ``other``.
    """
    sides = [_known_by_both(side, launches, baseline) for side in (launches, baseline)]
    means = [np.concatenate(side, axis=1).mean(axis=1) for side in sides]
    of_launches = [np.array([each.mean(axis=1) for each in side]) for side in sides]

    def interval(mean: float, values: list[float], against: list[float]) -> Interval:
        against = [growth * value for value in against]
        return difference_interval(mean, values, against, candidates=candidates, looks=looks)

    excess = means[0] - growth * means[1]
    parts = tuple(
        LostPart(
            cause=cause,
            s_per_step=interval(
                float(excess[place]), *(list(side[:, place]) for side in of_launches)
            ),
        )
        for place, cause in enumerate(CAUSES)
        if np.isfinite(excess[place])
    )
    totals = (list(np.nansum(side, axis=1)) for side in of_launches)
    return interval(float(np.nansum(excess)), *totals), parts


def _known_by_both(
    side: Sequence[NDArray[np.float64]], *all_sides: Sequence[NDArray[np.float64]]
) -> list[NDArray[np.float64]]:
    """Return the parts with what is not known everywhere moved into ``other``."""
    is_known = np.all(
        [np.isfinite(each).all(axis=1) for launches in all_sides for each in launches], axis=0
    )
    is_known[-1] = True
    made = []
    for each in side:
        parts = each.copy()
        parts[-1] += np.nansum(parts[~is_known], axis=0)
        parts[~is_known] = np.nan
        made.append(parts)
    return made
