"""How much of an instance some busy vCPUs are, where two of them are threads of one core."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

HYPERTHREAD_GAIN = 1.25
"""What all threads of a physical core do together, over what one does alone; 1.2 to 1.3."""


def full_threads(
    busy: ArrayLike, threads: ArrayLike, threads_per_core: ArrayLike
) -> NDArray[np.float64]:
    """Return how many threads of a fully busy instance do as much as so many busy ones.

    The first thread of a core does most of what all its threads do together.

    Args:
        busy: Threads that are busy, at most all.
        threads: Threads of the instance, its vCPUs.
        threads_per_core: Threads of each physical core.
    """
    busy, per_core = np.asarray(busy, dtype=np.float64), np.asarray(threads_per_core)
    cores = threads / per_core
    first = np.where(per_core > 1, per_core / HYPERTHREAD_GAIN, 1.0)
    others = (per_core - first) / np.maximum(per_core - 1, 1.0)
    alone = np.minimum(busy, cores)
    return np.asarray(alone * first + (busy - alone) * others)
