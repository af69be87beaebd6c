"""What each set-up of a local comparison becomes in cluster time, as the model has it."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from smtc_lab.catalog.own_cpu_speed import own_cpu_speed
from smtc_lab.errors import PlannerError
from smtc_lab.launchers.dilation import MOST_INSTANCES, number_problems
from smtc_lab.launchers.planning import ROUNDING
from smtc_lab.planner.clusters import refuse_scripted
from smtc_lab.planner.forecast.declared_wires import wires_of
from smtc_lab.planner.forecast.emulated_cores import num_cpus_of, quota_of, vcpus_of
from smtc_lab.planner.model.setup import Setup

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from smtc_lab.catalog.catalog import Catalog
    from smtc_lab.planner.forecast.type_table import TypeTable
    from smtc_lab.planner.model.setup import Numbers
    from smtc_lab.spec.cluster import InstanceGroup, Role
    from smtc_lab.spec.emulation import EmulatedLink, Emulation
    from smtc_lab.spec.job import TrainingJob


@dataclass(frozen=True, kw_only=True)
class AskedSetUp:
    """One set-up of a comparison, and what it would be with another instance type."""

    job: TrainingJob
    """What would be launched; without an emulation where all its instances are this machine."""

    emulation: Emulation
    """What it is emulated with as soon as one of its instances is another machine."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Surroundings:
    """What all set-ups of a forecast share."""

    catalog: Catalog
    """Instance types and prices."""

    cores: float
    """Cores of this machine."""


@dataclass(frozen=True, kw_only=True, slots=True)
class LaidOut:
    """Clusters of one training and at most one data group, as columns of shape (K,)."""

    is_possible: NDArray[np.bool_]
    """Whether the model knows such a cluster."""

    trainer: NDArray[np.intp]
    """Row of the training instances' type in the table."""

    trainers: NDArray[np.float64]
    """Training instances."""

    data: NDArray[np.intp]
    """Row of the data instances' type; where there are none it says nothing."""

    data_instances: NDArray[np.float64]
    """Data instances; 0: there are none."""

    is_heterogeneous: NDArray[np.bool_]
    """Whether it has more than one instance group."""

    units: NDArray[np.float64]
    """vCPUs of all instances, each weighted by its speed. NaN: unknown."""

    usd_per_hour: NDArray[np.float64]
    """Price of all instances in USD per hour. NaN: unknown."""

    @classmethod
    def joined(cls, parts: Sequence[LaidOut]) -> LaidOut:
        """Return the clusters of several, one after another."""
        columns: dict[str, Any] = {
            field.name: np.concatenate([getattr(part, field.name) for part in parts])
            for field in dataclasses.fields(cls)
        }
        return cls(**columns)


def cores_of_vcpu(job: TrainingJob) -> float | None:
    """Return the cores of this machine that do the work of one vCPU of relative speed 1.

    None: nothing is emulated.

    Raises:
        CatalogError: The speed of this machine is not known.
    """
    return None if job.emulation is None else 1 / own_cpu_speed().value


def laid_out(
    groups: Sequence[InstanceGroup],
    rows: Sequence[NDArray[np.intp]],
    role_of: Mapping[str, Role],
    table: TypeTable,
) -> LaidOut:
    """Return clusters of the same groups, whose types may differ, as the model knows them.

    Groups of one role count as one group where they have the same type.

    Args:
        groups: The groups, whose own types do not count.
        rows: Of each group, the row of its type in the table, shape (K,).
        role_of: Role of each group, by its name.
        table: The types.
    """
    places: dict[str, list[int]] = {"train": [], "data": []}
    for place, group in enumerate(groups):
        places[role_of[group.instance_group_name]].append(place)
    train, data = places["train"], places["data"]
    counts = [group.instance_count for group in groups]
    is_possible = np.full(rows[0].shape, sum(counts) <= MOST_INSTANCES)
    for of_role in (train, data):
        for place in of_role[1:]:
            is_possible &= rows[place] == rows[of_role[0]]
    units, usd = np.zeros(is_possible.shape), np.zeros(is_possible.shape)
    for count, of_group in zip(counts, rows, strict=True):
        units += count * table.units[of_group]
        usd += count * table.usd_per_hour[of_group]
    like = units.shape
    return LaidOut(
        is_possible=is_possible & ~np.isnan(units),
        trainer=rows[train[0]],
        trainers=np.full(like, float(sum(counts[place] for place in train))),
        data=rows[data[0]] if data else rows[train[0]],
        data_instances=np.full(like, float(sum(counts[place] for place in data))),
        is_heterogeneous=np.full(like, len(groups) > 1),
        units=units,
        usd_per_hour=usd,
    )


def setup_of(  # noqa: PLR0913  a cluster, and what stands for it here
    job: TrainingJob,
    laid: LaidOut,
    table: TypeTable,
    *,
    scale: Numbers | None,
    device_s: Numbers | None,
    link: EmulatedLink | None,
    cores: float,
    own_workers: int | None = None,
) -> Setup:
    """Return clusters as set-ups of the model, in cluster time.

    Args:
        job: What is run; its cluster does not count.
        laid: The clusters.
        table: The instance types.
        scale: Cores of this machine that do a vCPU's work; None: nothing is emulated.
        device_s: Time of the emulated device for a step in seconds; None: there is none.
        link: Declared network; None: none is.
        cores: Cores of this machine.
        own_workers: Data workers of the script's own dataloader; None: as for a calibration.
    """
    trainer_quota, data_quota = (
        quota_of(rows, table, scale) for rows in (laid.trainer, laid.data)
    )
    trainer_cpus, data_cpus = (
        num_cpus_of(quota, cores) for quota in (trainer_quota, data_quota)
    )
    # a trainer that is fed, and has less than a core to itself, keeps it
    is_fed = laid.is_heterogeneous & ~np.isnan(trainer_quota)
    devices = devices_of(job, laid, table)
    trainer_cores, trainer_speed = vcpus_of(laid.trainer, table, trainer_quota, trainer_cpus)
    data_cores, data_speed = vcpus_of(laid.data, table, data_quota, data_cpus)
    # few data workers of an emulated instance stand for all of its vCPUs
    loader_workers = np.where(
        is_fed,
        np.where(trainer_quota / devices + ROUNDING >= 1, trainer_cores, 0.0),
        np.maximum(devices, devices * np.floor(trainer_cores / devices)),
    )
    if own_workers is not None:
        loader_workers = devices * float(own_workers)
    if job.num_loader_workers is not None:
        loader_workers = devices * float(job.num_loader_workers)
    asked = job.num_data_workers
    data_workers = data_cores if asked is None else np.full(data_cores.shape, float(asked))
    has_data = laid.data_instances > 0
    return Setup(
        trainer_cores=trainer_cores,
        trainer_speed=trainer_speed,
        trainer_threads=1.0 if scale is None else table.threads_per_core[laid.trainer],
        data_threads=1.0 if scale is None else table.threads_per_core[laid.data],
        loader_workers=loader_workers,
        trainers=laid.trainers,
        devices=devices,
        data_instances=laid.data_instances,
        data_cores=np.where(has_data, data_cores, 0.0),
        data_speed=data_speed,
        data_workers=np.where(has_data, data_workers, 0.0),
        device_s=device_s,
        **wires_of(
            link,
            table,
            (laid.trainer, laid.data),
            is_emulated=scale is not None,
        ),
    )


def devices_of(job: TrainingJob, laid: LaidOut, table: TypeTable) -> NDArray[np.float64]:
    """Return the trainers on each training instance, as launchers count them, shape (K,).

    Where a distribution does not fit a cluster, they are not what it asks for.
    """
    asked = job.distribution
    if asked is None:
        return np.ones(laid.trainers.shape)
    if asked.processes_per_host is not None:
        return np.full(laid.trainers.shape, float(asked.processes_per_host))
    shared = np.ones(laid.trainers.shape)
    if asked.data is not None:
        shared = np.maximum(1.0, np.floor(asked.data * asked.per_replica / laid.trainers))
    known = table.devices[laid.trainer]
    return np.where(known > 0, known, shared)


def fits_distribution(job: TrainingJob, laid: LaidOut, table: TypeTable) -> NDArray[np.bool_]:
    """Return which clusters have as many trainers as the job's distribution asks for."""
    asked = job.distribution
    if asked is None or asked.data is None:
        return np.ones(laid.trainers.shape, dtype=np.bool_)
    ranks = devices_of(job, laid, table) * laid.trainers
    return np.asarray(ranks == asked.data * asked.per_replica)


def refuse_unknown(job: TrainingJob, role_of: Mapping[str, Role]) -> None:
    """Refuse a cluster that the model does not know, or that this machine cannot stand in for.

    Raises:
        PlannerError: It has several training groups or several data groups of different
            types, one that runs the script, or too many instances.
    """
    cluster = job.cluster
    refuse_scripted(cluster)
    for problem in number_problems(job):
        raise PlannerError(problem)
    spread = job.distribution
    if spread is not None and spread.pipeline * spread.tensor > 1:
        name = "pipeline" if spread.pipeline > 1 else "tensor"
        what = "the stages of a model" if spread.pipeline > 1 else "layers in parts"
        raise PlannerError(
            f"The job has {name}={getattr(spread, name)}, and nothing is predicted of {what} "
            f"yet. Launch it, or leave {name} out."
        )
    for role, most in (("train", "one training group"), ("data", "at most one data group")):
        names = [
            group.instance_type
            for group in cluster.instance_groups
            if role_of[group.instance_group_name] == role
        ]
        if len(set(names)) > 1:
            raise PlannerError(
                f"Nothing is predicted of {len(names)} groups that {_DOES[role]} on "
                f"{' and '.join(dict.fromkeys(names))}: the model knows {most}. Give them one "
                "type, or drop a group."
            )


_DOES = {"train": "train", "data": "prepare data"}
