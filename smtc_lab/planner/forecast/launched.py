"""What each set-up of a local comparison becomes in cluster time, as the model has it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from smtc_lab.catalog.placed import placed
from smtc_lab.errors import PlannerError
from smtc_lab.launchers.dilation import MOST_INSTANCES, number_problems
from smtc_lab.launchers.planning import ROUNDING
from smtc_lab.planner.clusters import NO_DATA_GROUP, Clusters, refuse_scripted
from smtc_lab.planner.forecast.declared_wires import wires_of
from smtc_lab.planner.model.setup import Setup

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smtc_lab.catalog.catalog import Catalog
    from smtc_lab.catalog.placed import Placed
    from smtc_lab.planner.model.setup import Numbers
    from smtc_lab.planner.offers import TypeTable
    from smtc_lab.spec.emulation import Emulation
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
    """What set-ups of a forecast share."""

    catalog: Catalog
    """Instance types and prices."""

    table: TypeTable
    """The types beside this machine, in cluster time."""

    cores: float
    """Cores of this machine."""


@dataclass(frozen=True, kw_only=True, slots=True)
class LaidOut(Clusters):
    """Clusters as launches lay them out."""

    devices: NDArray[np.float64]
    """Trainers on each training instance."""

    is_heterogeneous: NDArray[np.bool_]
    """Whether it has more than one instance group."""

    is_possible: NDArray[np.bool_]
    """Whether the model knows such a cluster."""

    def cores(self, table: TypeTable) -> NDArray[np.float64]:
        """Return how many cores of this machine do the work of all vCPUs that are emulated."""
        each = table.vcpus * table.speed
        each[table.local] = 0.0
        found: NDArray[np.float64] = self.trainers * each[self.trainer]
        return found + self.data_instances * np.where(self.has_data, each[self.data], 0.0)


def laid_out(
    where: Placed,
    table: TypeTable,
    *,
    is_emulated: bool = True,
    place: int = -1,
    rows: NDArray[np.intp] | None = None,
) -> LaidOut:
    """Return a job as the model knows it, with one or with many types in the place of a group.

    Groups of one role count as one group where they have the same type.

    Args:
        where: Its groups.
        table: The types.
        is_emulated: Whether this machine stands for their types; else all are this machine.
        place: The group whose type is exchanged.
        rows: Rows of the types that it may have; they have equally many accelerators.
    """
    like = np.ones(1 if rows is None else len(rows))
    names = [each.group.instance_type for each in where.groups]
    of_groups = [
        np.full(len(like), table.row_of[name] if is_emulated else table.local) for name in names
    ]
    if rows is not None:
        of_groups[place] = rows
    counts = [each.group.instance_count for each in where.groups]
    train, data = (
        [number for number, each in enumerate(where.groups) if each.role == role]
        for role in ("train", "data")
    )
    is_possible = np.full(like.shape, sum(counts) <= MOST_INSTANCES)
    for places in (train, data):
        for number in places:
            is_possible &= of_groups[number] == of_groups[places[0]]
            is_possible &= ~np.isnan(table.speed[of_groups[number]])
    return LaidOut(
        trainer=of_groups[train[0]],
        trainers=like * sum(counts[number] for number in train),
        data=of_groups[data[0]] if data else np.full(len(like), NO_DATA_GROUP),
        data_instances=like * sum(counts[number] for number in data),
        devices=like * where.groups[train[0]].num_trainers,
        is_heterogeneous=np.full(like.shape, len(counts) > 1),
        is_possible=is_possible,
    )


def setup_of(
    job: TrainingJob,
    laid: LaidOut,
    table: TypeTable,
    *,
    emulation: Emulation | None,
    own_workers: int | None = None,
) -> Setup:
    """Return clusters as set-ups of the model, in cluster time.

    Args:
        job: What is run; its cluster does not count.
        laid: The clusters.
        table: The instance types, beside this machine.
        emulation: Their device and network; None: nothing is emulated.
        own_workers: Data workers of the script's own dataloader; None: as for a calibration.
    """
    machines = laid.machines(table)
    asked, data_cores = job.num_loader_workers, machines["data_cores"]
    feeding = workers_of(data_cores, 1.0, 1.0, asked=job.num_data_workers)
    return Setup(
        **machines,
        loader_workers=workers_of(
            machines["trainer_cores"],
            machines["trainer_speed"],
            laid.devices,
            asked=own_workers if asked is None else asked,
            is_fed=laid.is_heterogeneous & (laid.trainer != table.local),
        ),
        devices=laid.devices,
        data_workers=np.where(laid.has_data, feeding, 0.0),
        device_s=None if emulation is None else emulation.device_step_time_s,
        **wires_of(
            None if emulation is None else emulation.link,
            table,
            (laid.trainer, np.where(laid.has_data, laid.data, laid.trainer)),
            is_emulated=emulation is not None,
        ),
    )


def workers_of(
    cores: Numbers,
    speed: Numbers,
    devices: Numbers,
    *,
    asked: int | None,
    is_fed: Numbers | NDArray[np.bool_] = False,
) -> NDArray[np.float64]:
    """Return the data workers of an instance; those of an emulated one stand for its vCPUs.

    Args:
        cores: Its cores, in cluster time.
        speed: Speed of each.
        devices: Trainers on it, which share the cores alike.
        asked: Data workers of each trainer; None: as its cores decide.
        is_fed: Whether it is emulated and fed: a trainer that has less than a core to itself
            then keeps it.
    """
    if asked is not None:
        return np.asarray(devices * float(asked))
    whole = devices * np.maximum(1.0, np.floor(np.ceil(cores - ROUNDING) / devices))
    left = np.where(cores * speed / devices + ROUNDING >= 1, cores, 0.0)
    return np.where(is_fed, left, whole)


def placed_if_known(job: TrainingJob, catalog: Catalog) -> Placed:
    """Return where a job is placed, if the model knows such a cluster.

    Raises:
        PlannerError: It has several training groups or several data groups of different
            types, one that runs the script, or more instances than this machine stands in for.
        SpecError: It cannot be placed.
        CatalogError: A type is not in the catalog.
    """
    refuse_scripted(job.cluster)
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
    where = placed(job, catalog)
    for role, most in (("train", "one training group"), ("data", "at most one data group")):
        names = [each.group.instance_type for each in where.groups if each.role == role]
        if len(set(names)) > 1:
            raise PlannerError(
                f"Nothing is predicted of {len(names)} groups that {_DOES[role]} on "
                f"{' and '.join(dict.fromkeys(names))}: the model knows {most}. Give them one "
                "type, or drop a group."
            )
    return where


_DOES = {"train": "train", "data": "prepare data"}
