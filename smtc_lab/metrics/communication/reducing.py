"""What data instances that also reduce gradients bring, and whether that is worth it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = float | NDArray[np.float64]

LEAST_GAIN = 0.02
"""Share of what is gained from which reducing on data instances is worth it."""


def reduced_share(instances: Numbers, reducers: Numbers) -> NDArray[np.float64]:
    """Return what an all-reduce takes beside a ring, where other instances reduce, too.

    It is n² / (n² + kn - 2k): 1 for two instances, 2/3 for four with four reducers, and never
    below 1/2, from where on the trainers' own cards are full.

    Args:
        instances: Training instances, n.
        reducers: Instances of equally fast cards that only reduce, k. Those of a slower card
            count as its share.

    Source:
        Jiang et al., BytePS, OSDI 2020.
    """
    n = np.asarray(instances, dtype=np.float64)
    k = np.minimum(reducers, n)  # with as many, each byte passes a trainer's card once each way
    with np.errstate(divide="ignore", invalid="ignore"):
        share = n**2 / (n**2 + k * n - 2 * k)
    return np.where((n > 2) & (k > 0), share, 1.0)


def launched_share(
    instances: Numbers, reducers: Numbers, *, trainer_gbps: Numbers, data_gbps: Numbers
) -> NDArray[np.float64]:
    """Return the same before anything is known of the job but its cluster.

    What batches take of the reducers' cards is not known then, so they count as idle.

    Args:
        instances: Training instances.
        reducers: Data instances.
        trainer_gbps: Bandwidth of a training instance in Gbit/s; NaN: unknown.
        data_gbps: Bandwidth of a data instance; NaN: unknown. Either: they bring nothing.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        speed = np.minimum(np.asarray(data_gbps) / np.asarray(trainer_gbps), 1.0)
    return reduced_share(instances, reducers * np.nan_to_num(speed, nan=0.0))
