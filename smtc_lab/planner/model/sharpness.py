"""How sharply the stages of a step overlap: the p of the norm that combines them.

With p = infinity a step takes as long as its longest stage: perfect overlap. Queues are short,
ranks wait for each other and cores are shared, so the longest stage alone is too optimistic
where two stages are close. p = 1 is no overlap at all.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

DEFAULT_P = 12.0
"""p of one trainer process without a fit.

Source:
    Runs of the data service at the point where data and device are as fast as each other took
    5 to 6 % longer than either. Simulated queues without a barrier: above 15.
"""

LEAST_DEFAULT_P = 4.0
"""Lower end of its band without a fit; the upper end is infinity."""

BARRIER_P = 12.0
"""p of several trainer processes, which wait for the slowest of them in each step.

Source:
    Six published curves over data instances, each of eight ranks: rows near the knee are missed
    by 3.1 % in the mean of the curves with 12, by 4.1 % with 8, by 8.9 % with 4, by 2.7 % with
    16. One curve by itself has 4, and five are sharper than 12
    (``notebooks/benchmarks/planner/published.py``).
"""

LEAST_BARRIER_P = 3.0
"""Lower end of its band; the upper end is infinity. Simulated: eight ranks whose speeds drift
by 10 % have 4.1."""

_INVERSE = np.linspace(0.0, 0.5, 101)  # p from infinity down to 2
_LEAST_RUNS = 3
_RUN_ERROR = 0.03  # one run against the next, and what the stages themselves miss


@dataclass(frozen=True, slots=True)
class Sharpness:
    """What is known of 1 / p."""

    inverse_p: float
    """The best value of 1 / p."""

    weights: NDArray[np.float64]
    """Weight of each value of 1 / p on the grid; they add up to 1."""

    is_fitted: bool
    """Whether it comes from runs of this workload."""

    def draws(self, uniform: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return values of 1 / p as likely as they are, from uniform numbers in [0, 1)."""
        return np.interp(uniform, np.cumsum(self.weights), _INVERSE)


def default_sharpness(*, has_barrier: bool = False) -> Sharpness:
    """Return the default and its band, where no runs tell.

    Args:
        has_barrier: Whether several trainer processes wait for each other.
    """
    p, least = (BARRIER_P, LEAST_BARRIER_P) if has_barrier else (DEFAULT_P, LEAST_DEFAULT_P)
    weights = (1 / least >= _INVERSE).astype(np.float64)
    return Sharpness(1 / p, weights / weights.sum(), is_fitted=False)


def fitted_sharpness(
    stages_s: NDArray[np.float64], measured_s: NDArray[np.float64]
) -> Sharpness:
    """Return p of one trainer process from whole runs, or the default where they cannot tell.

    Args:
        stages_s: What each stage takes by itself, shape (runs, stages), in seconds; each run
            with other data workers. Fewer than three tell nothing.
        measured_s: Step time of each run in seconds.
    """
    default = default_sharpness()
    if len(measured_s) < _LEAST_RUNS:
        return default
    predicted_s = p_norm(stages_s[np.newaxis], _INVERSE[:, np.newaxis])
    errors = np.log(predicted_s / measured_s)
    # A common factor of all runs is an error of the stages, not of p, and is taken out.
    squares = ((errors - errors.mean(axis=1, keepdims=True)) ** 2).sum(axis=1)
    # Runs that no p explains scatter for other reasons, and tell the less of p.
    scatter = max(_RUN_ERROR**2, squares.min() / (len(measured_s) - 2))
    # The default's band is what was seen elsewhere; runs that tell nothing leave it as it is.
    prior = np.where(1 / LEAST_DEFAULT_P >= _INVERSE, 1.0, 0.3)
    weights = prior * np.exp(-0.5 * (squares - squares.min()) / scatter)
    weights = weights / weights.sum()
    spread = np.sqrt(weights @ _INVERSE**2 - (weights @ _INVERSE) ** 2)
    flat = prior / prior.sum()
    flat_spread = np.sqrt(flat @ _INVERSE**2 - (flat @ _INVERSE) ** 2)
    if spread > 0.8 * flat_spread:
        return default
    return Sharpness(float(weights @ _INVERSE), weights, is_fitted=True)


def p_norm(
    stages_s: NDArray[np.float64], inverse_p: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the p-norm over the last axis of times of at least 0.

    Args:
        stages_s: Times in seconds, shape (..., stages).
        inverse_p: 1 / p, 0 to 1, of a shape that fits the others; 0 is the greatest time.
    """
    longest_s: NDArray[np.float64] = stages_s.max(axis=-1)
    inverse_p = np.maximum(inverse_p, 1e-3)  # p = 1000 is the greatest time, to a thousandth
    with np.errstate(invalid="ignore", divide="ignore"):
        shares = stages_s / longest_s[..., np.newaxis]
    total = (shares ** (1 / inverse_p)[..., np.newaxis]).sum(axis=-1)
    norm: NDArray[np.float64] = longest_s * total**inverse_p
    return np.where(longest_s == 0, 0.0, norm)
