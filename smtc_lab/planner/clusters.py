"""Clusters as rows of the offers, many at once."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self, TypeVar

import numpy as np

from smtc_lab.errors import PlannerError
from smtc_lab.spec.cluster import Cluster, InstanceGroup

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from smtc_lab.catalog.instance_types import InstanceType
    from smtc_lab.planner.model.setup import Numbers
    from smtc_lab.planner.offers import TypeTable

_Some = TypeVar("_Some", bound="Clusters")

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

    @staticmethod
    def alone(
        trainer: NDArray[np.intp],
        trainers: NDArray[np.float64],
        loader_workers: Numbers = math.inf,
    ) -> Clusters:
        """Return clusters without a data group."""
        return Clusters(
            trainer=trainer,
            trainers=trainers,
            data=np.full(len(trainer), NO_DATA_GROUP),
            data_instances=np.zeros(len(trainer)),
            loader_workers=loader_workers,
        )

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

    @property
    def has_data(self) -> NDArray[np.bool_]:
        """Whether they have a data group."""
        return np.not_equal(self.data, NO_DATA_GROUP)

    def usd_per_hour(self, table: TypeTable) -> NDArray[np.float64]:
        """Return the price of each cluster in USD per hour; NaN: unknown."""
        usd = table.usd_per_hour
        data = np.where(self.has_data, usd[self.data], 0.0)
        found: NDArray[np.float64] = self.trainers * usd[self.trainer]
        return found + self.data_instances * data

    def machines(self, table: TypeTable) -> dict[str, Any]:
        """Return the fields of a ``Setup`` that instances and their types give."""
        data = np.where(self.has_data, self.data, 0)
        return {
            "trainers": self.trainers,
            "trainer_cores": table.vcpus[self.trainer],
            "trainer_speed": table.speed[self.trainer],
            "trainer_threads": table.threads_per_core[self.trainer],
            "data_instances": self.data_instances,
            "data_cores": np.where(self.has_data, table.vcpus[data], 0.0),
            "data_speed": np.where(self.has_data, table.speed[data], 1.0),
            "data_threads": np.where(self.has_data, table.threads_per_core[data], 1.0),
        }

    def pick(self, places: NDArray[np.intp]) -> Self:
        """Return some of the clusters."""
        return _with_columns(self, lambda name: getattr(self, name)[places])

    @classmethod
    def joined(cls, parts: Sequence[Self]) -> Self:
        """Return the clusters of several, one after another."""
        return _with_columns(
            parts[0], lambda name: np.concatenate([getattr(part, name) for part in parts])
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


def _with_columns(clusters: _Some, made: Callable[[str], NDArray[Any]]) -> _Some:
    """Return clusters with other columns, each by its name."""
    columns: dict[str, Any] = {
        field.name: made(field.name)
        for field in dataclasses.fields(clusters)
        if isinstance(getattr(clusters, field.name), np.ndarray)
    }
    return dataclasses.replace(clusters, **columns)
