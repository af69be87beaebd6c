"""How long gradients are on their way: a ring by its latency and its time for a byte.

Source:
    Alpha-beta: Hockney, Parallel Computing 20 (1994). Ring: Patarasuk and Yuan, J. Parallel
    Distrib. Comput. 69 (2009).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from smtc_lab.planner.calibration.calibration import Calibration
    from smtc_lab.planner.calibration.parts import DevicePoint
    from smtc_lab.planner.model.draws import Draws
    from smtc_lab.planner.model.setup import Numbers

ASSUMED_ALPHA_S = 30e-6
"""Seconds of one message beside its bytes, where no calibration measured it. Assumed."""

GOODPUT = 0.955
"""Share of a rated bandwidth that carries gradients: 1,448 of the 1,514 bytes of a frame, as
measured through a token bucket, too. Larger frames carry up to 0.99."""


@dataclass(frozen=True, slots=True)
class RingLink:
    """The slowest link of a ring."""

    alpha_s: Numbers
    """Seconds of one message beside its bytes."""

    beta_s: Numbers
    """Seconds for one byte."""


def rated_beta_s(gbps: Numbers) -> NDArray[np.float64]:
    """Return the seconds for one byte of a rated bandwidth in Gbit/s; NaN: unknown."""
    return np.asarray(8 / (np.asarray(gbps, dtype=np.float64) * 1e9 * GOODPUT))


def ring_s(nbytes: Numbers, ranks: Numbers, link: RingLink) -> NDArray[np.float64]:
    """Return the seconds of one all-reduce in a ring; 0 for one rank.

    Args:
        nbytes: Bytes that each rank has.
        ranks: Ranks, at least 1.
        link: The slowest link between neighbours.
    """
    n = np.asarray(ranks, dtype=np.float64)
    took_s = 2 * (n - 1) * link.alpha_s + 2 * (n - 1) / n * nbytes * link.beta_s
    return np.where(n > 1, took_s, 0.0)


def slowest_share(quantiles: Sequence[float], ranks: Numbers) -> NDArray[np.float64]:
    """Return the expected slowest of so many draws over the mean of one, at least 1.

    Args:
        quantiles: Of the step time of one rank, evenly from its shortest to its longest;
            fewer than two: the spread is not known, and 1 is returned.
        ranks: Ranks that wait for each other, at least 1.
    """
    n = np.asarray(ranks, dtype=np.float64)
    values = np.asarray(quantiles, dtype=np.float64)
    if len(values) < 2:
        return np.ones_like(n)
    # The slowest of n lies below the quantile u with probability u**n; between two quantiles
    # the draws are even, so that the integral of Q du**n is exact by parts.
    u = np.linspace(0.0, 1.0, len(values))
    slopes = np.diff(values) * (len(values) - 1)
    powers = u ** (n[..., np.newaxis] + 1) / (n[..., np.newaxis] + 1)
    slowest = values[-1] - (slopes * np.diff(powers, axis=-1)).sum(axis=-1)
    mean = float(np.mean((values[1:] + values[:-1]) / 2))
    return np.maximum(slowest / mean, 1.0) if mean > 0 else np.ones_like(n)


def link_of(calibration: Calibration, draws: Draws) -> RingLink | None:
    """Return draws of latency and time for a byte on this machine; None: not measured.

    A ring of two ranks has two messages, and moves as many bytes as each rank has.
    """
    if len(calibration.links) < 2:
        return None
    by_size = sorted(calibration.links, key=lambda point: point.nbytes)
    small, large = by_size[0], by_size[-1]
    small_s, large_s = draws.of(small.all_reduce_s), draws.of(large.all_reduce_s)
    beta_s = np.maximum(large_s - small_s, 0.0) / max(1, large.nbytes - small.nbytes)
    return RingLink(np.maximum(small_s - small.nbytes * beta_s, 0.0) / 2, beta_s)


def step_quantiles(points: Sequence[DevicePoint]) -> tuple[float, ...]:
    """Return the quantiles of the calibrated step; empty: not measured."""
    known = [point for point in points if len(point.step_quantiles) > 1]
    return max(known, key=lambda point: point.batch_size).step_quantiles if known else ()
