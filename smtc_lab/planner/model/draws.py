"""Random numbers behind the intervals of predictions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smtc_lab.metrics.result import Interval
    from smtc_lab.planner.calibration.parts import LaunchSpread

NUM_DRAWS = 256
"""Draws of which an interval is made; one more, the first, is the measured value itself."""

_SEED = 20261122
_TAIL = 1.2815516  # standard deviations to the ends of an 80 % interval
_LAUNCH_SEED = 20261123  # its own, so that draws of all else are the same with any spread
_FINE = 100  # numbers of which the even ones are made, for each of them


@dataclass(frozen=True, slots=True)
class Draws:
    """Random numbers behind the intervals; the first of each is its middle."""

    generator: np.random.Generator
    """Where they come from; the seed is fixed, so that a plan can be made again."""

    count: int
    """Draws beside the first."""

    def normal(self) -> NDArray[np.float64]:
        """Return standard normal numbers, 0 first, shape (count + 1,)."""
        return np.concatenate(([0.0], self.generator.standard_normal(self.count)))

    def uniform(self) -> NDArray[np.float64]:
        """Return uniform numbers in [0, 1), shape (count,)."""
        return self.generator.random(self.count)

    def of(self, measured: Interval | None) -> NDArray[np.float64]:
        """Return draws of a measured number, its value first; never below 0. None: zeros."""
        z = self.normal()
        if measured is None:
            return np.zeros_like(z)
        up = (measured.high - measured.mean) / _TAIL
        down = (measured.mean - measured.low) / _TAIL
        return np.maximum(measured.mean + z * np.where(z > 0, up, down), 0.0)


def new_draws(count: int = NUM_DRAWS) -> Draws:
    """Return draws that are the same each time."""
    return Draws(np.random.default_rng(_SEED), count)


class LaunchDraws:
    """How much slower than the mean of all launches some are, as factors.

    The standard deviation is itself known from a few launches only, so each draw has another
    one: together they are Student's t. Draws are spread evenly over their distribution, in
    random order: a few hundred that are not miss its ends by a tenth of the width.

    Args:
        spread: How far launches lie apart.
        count: Draws beside the first, which is 1.
    """

    def __init__(self, spread: LaunchSpread, count: int) -> None:
        random = np.random.default_rng(_LAUNCH_SEED)
        scale = np.sqrt(spread.freedom / _even(random.chisquare(spread.freedom, count * _FINE)))
        self._sd = np.concatenate(([0.0], spread.cpu_sd * random.permutation(scale)))
        self._z = _even(random.standard_normal(count * _FINE))
        self._random = random

    def slowness(self, launches: int = 1) -> NDArray[np.float64]:
        """Return new factors of the mean of so many launches, shape (D,), the first one 1."""
        z = np.concatenate(([0.0], self._random.permutation(self._z)))
        return np.asarray(np.exp(self._sd * z / np.sqrt(launches)))


def _even(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the median of each hundred neighbours in order."""
    return np.median(np.sort(values).reshape(-1, _FINE), axis=1)
