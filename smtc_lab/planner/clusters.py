"""Clusters as rows of the offers, many at once."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from smtc_lab.planner.model.setup import Numbers

NO_DATA_GROUP = -1
"""Row of the data group's type in a cluster that has none."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Clusters:
    """Clusters of one training group and at most one data group, as rows of the offers."""

    trainer: NDArray[np.intp]
    """Row of the training group's type."""

    trainers: NDArray[np.float64]
    """Its instances."""

    data: NDArray[np.intp]
    """Row of the data group's type, or ``NO_DATA_GROUP``."""

    data_instances: NDArray[np.float64]
    """Its instances."""

    reduces: NDArray[np.bool_] | None = None
    """Whether data instances also reduce gradients; None: none do."""

    loader_workers: Numbers = math.inf
    """Data workers on each training instance."""

    data_workers: Numbers = math.inf
    """Data workers on each data instance."""

    def pick(self, places: NDArray[np.intp]) -> Clusters:
        """Return some of the clusters, with a data worker for each core."""
        return Clusters(
            trainer=self.trainer[places],
            trainers=self.trainers[places],
            data=self.data[places],
            data_instances=self.data_instances[places],
            reduces=None if self.reduces is None else self.reduces[places],
        )
