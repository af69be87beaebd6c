"""What each of several trainers does itself in a step, and who is slow."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

RANK_MEANS = ("step_time_s", "data_wait_s", "exposed_comm_s", "rank_wait_s")
"""What is told of each rank: step time, wait for data, exposed communication and wait for
slower ranks, in seconds."""

SLOW = 0.05
"""A rank whose own time is above the median rank's by this share is slow."""


def own_time_s(means: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the time in which ranks wait neither for others nor for the network, in seconds.

    It is their computing, and their wait for data, which holds the others up as much. Ranks
    that wait for each other go on together, so what a rank does between its steps is own time,
    too: the others wait for it. A wait that was not recorded counts as own time: a rank that
    exchanges nothing waits for nobody.

    Args:
        means: Means over steps of ``RANK_MEANS``, shape (4, R, …), NaN where not known.

    Returns:
        Shape (R, …), at least 0; NaN where there was no step.
    """
    step_s, _, exposed_s, wait_s = means
    together_s = np.where(np.isfinite(wait_s), np.fmax.reduce(step_s, axis=0), step_s)
    own_s: NDArray[np.float64] = together_s - np.nan_to_num(exposed_s) - np.nan_to_num(wait_s)
    return np.maximum(0.0, own_s)


def own_shares(means: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return which share of the longest rank's step each rank is busy with its own work.

    Args:
        means: Means of bins of steps, shape (4, R, B), rows as in ``RANK_MEANS``.

    Returns:
        0 to 1, shape (R, B); NaN where there was no step.
    """
    longest_s = np.fmax.reduce(means[0], axis=0, initial=0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = own_time_s(means) / longest_s
    return np.where(longest_s > 0, np.minimum(1.0, shares), np.nan)


def straggler_excess(own_s: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return how much longer than the median rank each rank is busy with its own work.

    Args:
        own_s: Own time of each rank in seconds, shape (R,).

    Returns:
        (rank - median) / median, shape (R,); 0.1 means 10 % longer. NaN: it cannot be told.
    """
    known = own_s[np.isfinite(own_s)]
    median_s = float(np.median(known)) if known.size else 0.0
    if median_s <= 0:
        return np.full(own_s.shape, np.nan)
    excess: NDArray[np.float64] = own_s / median_s - 1
    return excess


def slowest_first(own_s: NDArray[np.float64], most: int) -> NDArray[np.intp]:
    """Return the places of the ranks that are busy the longest, at most so many, ascending."""
    by_time = np.argsort(-np.nan_to_num(own_s), kind="stable")
    return np.sort(by_time[:most])
