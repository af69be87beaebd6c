"""How many steps at the begin of a launch are not counted."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

BATCH_STEPS = 5
"""Steps whose median MSER-5 looks at."""

_LEAST_CHANGE = 0.05
"""Steps that differ by less than this much of their time are as good as settled."""

_ERRORS = 4.0
"""Standard errors beyond which two parts of a launch differ."""

_FEW_BATCHES, _LEAST_KEPT = 12, 3
_OF_SQUARES = 0.455
"""Median of a squared standard normal: what makes a median of squares a variance."""

_OF_MEDIAN = 1.57
"""Variance of a median over that of a mean of as many values."""


def common_warm_up(launches: Sequence[NDArray[np.float64]]) -> int:
    """Return how many steps to leave out at the begin of each of several launches.

    The rule: the first step always goes, because it pays for allocation, connections and
    empty queues. Of the rest the medians of 5 steps, over the launch's own median, are averaged
    over all launches; so rare stalls are kept, and no cluster is cut at its luckiest place.
    Of all cuts at a multiple of 5 steps MSER-5 takes the one with the least standard error of
    the mean of what remains (the earliest, where several are equal). No more than half of the
    shortest launch is cut. A last batch of fewer than 5 steps is not looked at, but counts.

    Args:
        launches: Step times of each launch in order, in seconds, each of shape (S,).

    Returns:
        0 where a launch has no step or one, so that a measured step stays; else 1 to S // 2
        of the shortest.

    Raises:
        ValueError: The step times are not one finite number for each step.

    Source:
        MSER-5: K. P. White, "An effective truncation heuristic for bias reduction in
        simulation output", Simulation 69(6), 1997; averaging over runs first is Welch's
        method. The first step: MLPerf Storage leaves its input out of the measurement.
    """
    for step_time_s in launches:
        if step_time_s.ndim != 1 or not np.isfinite(step_time_s).all():
            raise ValueError(
                f"step_time_s has the shape {step_time_s.shape}, or a value that is not "
                "finite, but must be one finite number for each step. Give the steps of one "
                "launch."
            )
    fewest = min(map(len, launches), default=0)
    most = fewest // 2
    if most == 0:
        return 0
    batches = _averaged(launches)
    num_cuts = min(len(batches), _num_cuts(fewest))
    return 1 + BATCH_STEPS * (_best_cut(batches, num_cuts) if num_cuts > 1 else 0)


def warm_up_steps(step_time_s: NDArray[np.float64]) -> int:
    """Return how many steps at the begin of one launch to leave out, as ``common_warm_up``."""
    return common_warm_up([step_time_s])


def is_settled(launches: Sequence[NDArray[np.float64]], warm_up_steps: int) -> bool:
    """Return whether steps look settled behind a warm-up; False: longer launches are needed.

    They do not where the first third of what is kept differs from the last one, or where the
    longest cut was needed and what it cut differs from what is kept. To differ is by 5 %, and
    by 4 standard errors; their noise is that of neighbouring batches, so that one change of
    level is none of it.

    Args:
        launches: Step times of each launch in order, in seconds, each of shape (S,).
        warm_up_steps: What is left out of each, as ``common_warm_up`` returns.
    """
    batches = _averaged(launches)
    cut = max(0, warm_up_steps - 1) // BATCH_STEPS
    kept = batches[cut:]
    third = max(1, len(kept) // 3)
    if len(kept) >= _LEAST_KEPT and _differ(kept[:third], kept[-third:], batches):
        return False
    if cut == 0 or cut < _num_cuts(min(map(len, launches))) - 1:
        return True
    if len(batches) < _FEW_BATCHES:  # too few to tell noise from a trend
        change = float(np.median(batches[:cut]) - np.median(kept))
        return abs(change) <= _LEAST_CHANGE
    return not _differ(batches[:cut], kept, batches)


def measured_from(
    step: NDArray[np.float64], step_time_s: NDArray[np.float64], *, probe_steps: int
) -> int:
    """Return how many steps at the begin of a launch are not measured.

    Args:
        step: Number of each step, in order, shape (S,).
        step_time_s: Its time in seconds, shape (S,).
        probe_steps: Steps in which a compiler was being chosen.

    Raises:
        ValueError: As ``common_warm_up``.
    """
    probed = probed_steps(step, probe_steps=probe_steps)
    return probed + warm_up_steps(step_time_s[probed:])


def probed_steps(step: NDArray[np.float64], *, probe_steps: int) -> int:
    """Return how many recorded steps a compiler was being chosen in; one step at least stays.

    A compiler that is still being chosen is not the one to measure, so those steps go first,
    and of the rest the warm-up goes.

    Args:
        step: Number of each step, in order, shape (S,).
        probe_steps: Steps in which a compiler was being chosen.
    """
    return int(np.sum(step[:-1] < probe_steps))


def _num_cuts(num_steps: int) -> int:
    """Return how many cuts are tried in a launch of so many steps, no cut among them."""
    return (num_steps // 2 - 1) // BATCH_STEPS + 1


def _averaged(launches: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    """Return the mean over the launches of their batches' medians, shape (B,)."""
    num_batches = max(0, min(map(len, launches)) - 1) // BATCH_STEPS
    rows = np.empty((len(launches), num_batches))
    for row, step_time_s in zip(rows, launches, strict=True):
        first = step_time_s[1 : 1 + num_batches * BATCH_STEPS].reshape(-1, BATCH_STEPS)
        row[:] = np.median(first, axis=1) / (float(np.median(step_time_s)) or 1.0)
    averaged: NDArray[np.float64] = rows.mean(axis=0)
    return averaged


def _best_cut(batches: NDArray[np.float64], num_cuts: int) -> int:
    """Return the cut below ``num_cuts`` with the least squared standard error."""
    left = np.arange(len(batches), 0, -1)
    centered = batches - batches.mean()
    sums = np.cumsum(centered[::-1])[::-1]
    squares = np.cumsum(centered[::-1] ** 2)[::-1]
    errors = (squares - sums**2 / left)[:num_cuts] / left[:num_cuts] ** 2
    # rounding alone must not choose a cut: steps of one length keep all but the first
    rounding = (np.abs(batches).max() * 1e-12) ** 2
    return int(np.argmax(errors <= max(errors.min(), 0.0) + rounding))


def _differ(
    one: NDArray[np.float64], other: NDArray[np.float64], batches: NDArray[np.float64]
) -> bool:
    variance = float(np.median(np.diff(batches) ** 2)) / 2 / _OF_SQUARES
    error = (_OF_MEDIAN * 2 * variance / min(len(one), len(other))) ** 0.5
    change = abs(float(np.median(one) - np.median(other)))
    return bool(change > max(_LEAST_CHANGE, _ERRORS * error))
