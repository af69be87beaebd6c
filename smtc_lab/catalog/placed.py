"""Where the processes of a job are placed: who trains, with how many trainers, on what."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from smtc_lab.catalog.roles import roles
from smtc_lab.catalog.trainers import trainers_per_instance

if TYPE_CHECKING:
    from smtc_lab.catalog.catalog import Catalog
    from smtc_lab.catalog.instance_types import InstanceType
    from smtc_lab.spec.cluster import InstanceGroup, Role
    from smtc_lab.spec.job import TrainingJob


@dataclass(frozen=True, kw_only=True, slots=True)
class PlacedGroup:
    """What each instance of a group is."""

    group: InstanceGroup
    """The group."""

    role: Role
    """What its instances do."""

    num_trainers: int
    """Trainers of each instance; 0: it has none."""

    known: InstanceType | None
    """Its size and price; None: this machine, or a type that the catalog does not know."""

    @property
    def serves_loaders(self) -> bool:
        """Whether its instances serve dataloaders of trainers."""
        return self.role == "data" and self.group.runs is None


@dataclass(frozen=True, kw_only=True, slots=True)
class Placed:
    """The groups of a job, each with its role, its trainers and its type."""

    groups: tuple[PlacedGroup, ...]
    """In the order of the cluster."""

    usd_per_hour: float | None = None
    """Price of all instances per hour in USD; None: one is unknown."""

    devices_here: int = 0
    """Accelerators of each training instance of the type ``local``."""

    @property
    def training(self) -> list[PlacedGroup]:
        """The groups that train."""
        return [each for each in self.groups if each.role == "train"]

    @property
    def num_trainers(self) -> int:
        """Trainers of the job, on all instances."""
        return sum(each.group.instance_count * each.num_trainers for each in self.groups)


def placed(job: TrainingJob, catalog: Catalog, *, devices_here: int = 0) -> Placed:
    """Return where the processes of a job are placed. It is asked once, and handed on.

    Args:
        job: The job.
        catalog: Where the instance types are looked up.
        devices_here: Accelerators of each training instance of the type ``local``.

    Raises:
        CatalogError: A role depends on a type that is not in the catalog.
        SpecError: Nothing would train, trainers are told to run the script, or the distribution
            does not fit the cluster; all reasons at once.
    """
    role_of = roles(job.cluster, catalog)
    trainers = trainers_per_instance(job, role_of, catalog, devices_here=devices_here)
    groups = tuple(
        PlacedGroup(
            group=group,
            role=role_of[group.instance_group_name],
            num_trainers=trainers[group.instance_group_name],
            known=catalog.instance_types.get(group.instance_type),
        )
        for group in job.cluster.instance_groups
    )
    is_known = all(each.known is not None for each in groups)
    usd_per_hour = catalog.usd_per_hour(job.cluster) if is_known else None
    return Placed(groups=groups, usd_per_hour=usd_per_hour, devices_here=devices_here)
