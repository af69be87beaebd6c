"""Clusters as rows of the offers, many at once."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from smtc_lab.errors import PlannerError
from smtc_lab.spec.cluster import Cluster, InstanceGroup

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from smtc_lab.catalog.instance_types import InstanceType
    from smtc_lab.planner.model.setup import Numbers

NO_DATA_GROUP = -1
"""Row of the data group's type in a cluster that has none."""


def refuse_scripted(cluster: Cluster) -> None:
    """Refuse a cluster whose batches come from a data server of the script's own.

    Raises:
        PlannerError: A group of it runs the script.
    """
    for group in cluster.instance_groups:
        if group.runs is not None:
            raise PlannerError(
                f"Nothing is predicted of the group {group.instance_group_name!r}, which runs "
                "the script (runs='script'): how fast a data server of the script's own is, no "
                "calibration tells. Launch it, or leave runs out."
            )


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

    loader_workers: Numbers = math.inf
    """Data workers on each training instance; infinite: as the script has, or for each core."""

    data_workers: Numbers = math.inf
    """Data workers on each data instance."""

    def all_loader_workers(
        self, of_script: int | None, devices: NDArray[np.float64]
    ) -> Numbers:
        """Return the data workers on each training instance, with the script's own.

        It keeps them beside a data group.

        Args:
            of_script: What it gives its dataloader; None: it leaves that open, or not known.
            devices: Accelerators of each type, by its row.
        """
        if of_script is None:
            return self.loader_workers
        is_own = np.isinf(self.loader_workers)
        return np.where(is_own, of_script * devices[self.trainer], self.loader_workers)

    def pick(self, places: NDArray[np.intp]) -> Clusters:
        """Return some of the clusters, with a data worker for each core of data instances."""
        workers = self.loader_workers
        return Clusters(
            trainer=self.trainer[places],
            trainers=self.trainers[places],
            data=self.data[places],
            data_instances=self.data_instances[places],
            loader_workers=workers[places] if isinstance(workers, np.ndarray) else workers,
        )

    def spec(self, place: int, types: Sequence[InstanceType]) -> Cluster:
        """Return one of the clusters as a spec.

        Args:
            place: Which of them.
            types: The instance types of the offers.
        """
        trainer, data_row = types[self.trainer[place]], self.data[place]
        both_are_cpu = data_row != NO_DATA_GROUP and not trainer.has_accelerator
        groups = [
            InstanceGroup(
                "train_group",
                trainer.name,
                int(self.trainers[place]),
                role="train" if both_are_cpu else None,
            )
        ]
        if data_row != NO_DATA_GROUP:
            groups.append(
                InstanceGroup(
                    "data_group",
                    types[data_row].name,
                    int(self.data_instances[place]),
                    role="data" if both_are_cpu else None,
                )
            )
        return Cluster(instance_groups=tuple(groups))
