"""How many steps at the begin of a launch are not counted."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

BATCH_STEPS = 5
"""Steps that MSER-5 averages before it looks at them."""


def warm_up_steps(step_time_s: NDArray[np.float64]) -> int:
    """Return how many steps at the begin of a launch to leave out.

    The rule: the first step always goes, because it pays for allocation, connections and
    empty queues. Then MSER-5 looks at the rest: of all cuts at a multiple of 5 steps it takes
    the one with the least standard error of the mean of what remains (the earliest, where
    several are equal). No more than half of all steps are cut, so a launch that never settles
    keeps its second half. A last batch of fewer than 5 steps is not looked at, but counts.

    Args:
        step_time_s: Step times of one launch in order, in seconds, shape (S,).

    Returns:
        0 for no step or one step, so that a measured step stays; else 1 to S // 2.

    Raises:
        ValueError: The step times are not one finite number for each step.

    Source:
        MSER-5: K. P. White, "An effective truncation heuristic for bias reduction in
        simulation output", Simulation 69(6), 1997. The first step: MLPerf Storage leaves its
        input out of the measurement.
    """
    if step_time_s.ndim != 1 or not np.isfinite(step_time_s).all():
        raise ValueError(
            f"step_time_s has the shape {step_time_s.shape}, or a value that is not finite, "
            "but must be one finite number for each step. Give the steps of one launch."
        )
    most = len(step_time_s) // 2
    if most == 0:
        return 0
    rest_s = step_time_s[1:]
    num_batches = len(rest_s) // BATCH_STEPS
    batch_mean_s = rest_s[: num_batches * BATCH_STEPS].reshape(-1, BATCH_STEPS).mean(axis=1)
    num_cuts = min(num_batches, (most - 1) // BATCH_STEPS + 1)
    if num_cuts <= 1:
        return 1
    return 1 + BATCH_STEPS * _best_cut(batch_mean_s, num_cuts)


def measured_from(
    step: NDArray[np.float64], step_time_s: NDArray[np.float64], *, probe_steps: int
) -> int:
    """Return how many steps at the begin of a launch are not measured.

    A compiler that is still being chosen is not the one to measure, so those steps go first;
    one step at least stays. Of the rest the warm-up goes.

    Args:
        step: Number of each step, in order, shape (S,).
        step_time_s: Its time in seconds, shape (S,).
        probe_steps: Steps in which a compiler was being chosen.

    Raises:
        ValueError: As ``warm_up_steps``.
    """
    probed = int(np.sum(step[:-1] < probe_steps))
    return probed + warm_up_steps(step_time_s[probed:])


def _best_cut(batch_mean_s: NDArray[np.float64], num_cuts: int) -> int:
    """Return the cut below ``num_cuts`` with the least squared standard error."""
    left = np.arange(len(batch_mean_s), 0, -1)
    centered_s = batch_mean_s - batch_mean_s.mean()
    sums_s = np.cumsum(centered_s[::-1])[::-1]
    squares_s2 = np.cumsum(centered_s[::-1] ** 2)[::-1]
    error_s2 = (squares_s2 - sums_s**2 / left)[:num_cuts] / left[:num_cuts] ** 2
    # rounding alone must not choose a cut: steps of one length keep all but the first
    rounding_s2 = (np.abs(batch_mean_s).max() * 1e-12) ** 2
    return int(np.argmax(error_s2 <= max(error_s2.min(), 0.0) + rounding_s2))
