"""Which of many set-ups nobody else beats in both time and cost."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

LEAST_GAIN = 0.01
"""A set-up that is faster by less than 1 % is no faster: no model, and hardly a measurement,
can tell."""


def pareto(time: NDArray[np.float64], cost: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return the places of the set-ups than which none is faster without costing more.

    Args:
        time: Time of each set-up, shape (N,).
        cost: Cost of each, shape (N,). NaN: unknown, so it stands on no front.

    Returns:
        Places by rising time and so by falling cost. Of equals, the first.
    """
    order = np.lexsort((np.arange(len(time)), cost, time))
    order = order[~np.isnan(cost[order])]
    if len(order) == 0:
        return order
    best = np.minimum.accumulate(cost[order])
    is_first = np.concatenate(([True], best[1:] < best[:-1]))
    return order[is_first]


def distinct(time: NDArray[np.float64], front: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return a front without those that are hardly faster than the next cheaper one.

    Args:
        time: Time of each set-up, shape (N,).
        front: What ``pareto`` returned.
    """
    kept: list[int] = []
    for place in front[::-1]:
        if not kept or time[place] < (1 - LEAST_GAIN) * time[kept[-1]]:
            kept.append(int(place))
    return np.array(kept[::-1], dtype=np.intp)


def excess(
    time: NDArray[np.float64], cost: NDArray[np.float64], front: NDArray[np.intp]
) -> NDArray[np.float64]:
    """Return how much more each set-up costs than the cheapest that is as fast.

    Args:
        time: Time of each set-up, shape (N,).
        cost: Cost of each, shape (N,).
        front: What ``pareto`` returned for these.

    Returns:
        Shape (N,): 0 on the front, 0.1 for 10 % more. Infinite where the cost is unknown.
    """
    if len(front) == 0:
        return np.full(len(time), np.inf)
    place = np.searchsorted(time[front], time, side="right") - 1
    with np.errstate(divide="ignore", invalid="ignore"):  # something may cost nothing
        found = cost / cost[front][place] - 1
    return np.where(np.isnan(found), np.inf, found)


def knee(time: NDArray[np.float64], cost: NDArray[np.float64]) -> int:
    """Return the place on a front beyond which speed gets dear.

    It is the one farthest below the straight line between the ends, both axes logarithmic, so
    that it is the same in whatever unit. With fewer than three, or none below the line, it is
    the last one, the cheapest.

    Args:
        time: Times of a front, rising, all above 0.
        cost: Its costs, falling.
    """
    if len(time) < 3 or cost[-1] <= 0:
        return len(time) - 1
    x, y = np.log(time), np.log(cost)
    x = (x - x[0]) / (x[-1] - x[0])
    y = (y - y[-1]) / (y[0] - y[-1])
    below = 1 - x - y
    best = int(np.argmax(below))
    return best if below[best] > 1e-9 else len(time) - 1
