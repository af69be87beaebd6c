"""What every launcher asks of a job before it makes its plan."""

from __future__ import annotations

import math
import re
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from smtc_lab.catalog.catalog import NO_PRICE_HERE
from smtc_lab.catalog.cpu_speed import relative_cpu_speed
from smtc_lab.catalog.placed import placed
from smtc_lab.errors import CatalogError, SpecError
from smtc_lab.instance.plan import InstancePlan
from smtc_lab.launchers.compiler_checks import compiler_problems
from smtc_lab.metrics.records.cluster_time import dilation_of_job
from smtc_lab.spec.cluster import LOCAL

if TYPE_CHECKING:
    from collections.abc import Callable

    from smtc_lab.catalog.catalog import Catalog
    from smtc_lab.catalog.instance_types import InstanceType
    from smtc_lab.catalog.placed import Placed, PlacedGroup
    from smtc_lab.spec.channel import Channel
    from smtc_lab.spec.cluster import Role
    from smtc_lab.spec.job import TrainingJob

ROUNDING = 1e-6
"""Part of a core that is nothing: what a quota times a time dilation is beside whole cores."""

_REMEDY_S3 = (
    "Copy it here with 'aws s3 sync' and give the folder, or launch the job on='sagemaker'."
)


def entry_point_problems(job: TrainingJob) -> list[str]:
    """Return what is wrong with the entry point, seen from this machine."""
    path = job.entry_point
    if Path(path).is_file():
        return []
    looked_from = str(Path.cwd())
    why = f"is not a file (looked from {looked_from!r}). Correct the path."
    return [f"The entry point {path!r} {why}"]


def instance_type_problems(job: TrainingJob, catalog: Catalog) -> list[str]:
    """Return the instance types that the catalog does not know, or cannot emulate."""
    problems = []
    for group in job.cluster.instance_groups:
        if group.instance_type == LOCAL:
            continue
        try:
            known = catalog.get(group.instance_type)
            if job.emulation is not None:
                relative_cpu_speed(known, job.emulation.relative_cpu_speed)
        except CatalogError as error:
            problems.append(str(error))
    return problems


def channel_problems(job: TrainingJob) -> list[str]:
    """Return the channels whose source is no folder of this machine."""
    return [
        f"Channel {channel.channel_name!r} has the source {channel.source!r}, which is not a "
        f"folder of this machine. {_REMEDY_S3 if is_in_s3(channel) else 'Correct the path.'}"
        for channel in job.channels
        if not Path(channel.source).is_dir()
    ]


def is_in_s3(channel: Channel) -> bool:
    """Return whether a channel's files lie in S3, and not on this machine."""
    return channel.source.startswith("s3://")


def place(
    job: TrainingJob, catalog: Catalog, *, devices_here: int = 0, runs_here: bool = True
) -> Placed:
    """Return where the processes of a job are placed, if a compiler can be used there.

    Args:
        job: The job.
        catalog: Where the instance types are looked up.
        devices_here: Accelerators of each training instance of the type ``local``.
        runs_here: Whether this machine compiles.

    Raises:
        CatalogError: A role depends on a type that is not in the catalog.
        SpecError: What is wrong with roles, trainers, or the compiler; all reasons at once.
    """
    found = placed(job, catalog, devices_here=devices_here)
    num_trainers = found.num_trainers
    if problems := compiler_problems(job, num_trainers=num_trainers, runs_here=runs_here):
        raise SpecError(problems)
    return found


@dataclass(frozen=True, kw_only=True)
class Slot:
    """What an instance of a job gets where it will be."""

    address: str
    """Address that it listens on; what stands for one where it is not known yet."""

    num_cpus: int
    """What it takes for its number of CPUs."""

    cpu_quota_cores: float | None = None
    """Cores that stand for it; None: no limit."""

    vcpus: int | None = None
    """vCPUs that those cores stand for; None: its CPUs are what they are."""

    threads_per_core: int | None = None
    """vCPUs of one physical core; None: not known."""

    has_device: bool = False
    """Whether a device of its own is emulated, where it trains."""

    devices: tuple[int, ...] | None = None
    """Accelerators of this machine that it has; None: all that there are."""


def instance_plans(
    job: TrainingJob, where: Placed, slot_of: Callable[[str, PlacedGroup], Slot]
) -> tuple[InstancePlan, ...]:
    """Return every instance of a job, trainers with their ranks.

    Args:
        job: What is run.
        where: Its groups.
        slot_of: Called with the host and the group of an instance.
    """
    instances, rank = [], 0
    each_of = (each for each in where.groups for _ in range(each.group.instance_count))
    for host, each in zip(job.cluster.hosts(), each_of, strict=True):
        group, role, num_trainers = each.group, each.role, each.num_trainers
        slot = slot_of(host, each)
        instances.append(
            InstancePlan(
                host=host,
                address=slot.address,
                instance_group_name=group.instance_group_name,
                instance_type=group.instance_type,
                role=role,
                runs=group.runs,
                cpu_quota_cores=slot.cpu_quota_cores,
                vcpus=slot.vcpus,
                threads_per_core=slot.threads_per_core,
                vcpu_cores=_vcpu_cores(job, each, slot),
                passes_outside_quota=slot.has_device and num_trainers > 0,
                num_cpus=slot.num_cpus,
                num_workers=num_workers(
                    job,
                    role,
                    quota=slot.cpu_quota_cores,
                    num_cpus=slot.num_cpus,
                    num_trainers=num_trainers,
                ),
                rank=rank if num_trainers else None,
                num_trainers=num_trainers,
                devices=slot.devices if num_trainers else None,
            )
        )
        rank += num_trainers
    return tuple(instances)


def emulated_slot(job: TrainingJob, known: InstanceType, *, cores_per_vcpu: float) -> Slot:
    """Return what an instance of an emulated type gets, but for its address.

    Args:
        job: The job.
        known: The type.
        cores_per_vcpu: Cores that stand for one vCPU of relative speed 1.
    """
    quota, emulation = cores_per_vcpu * speed_units_of_type(job, known), job.emulation
    is_declared = emulation is not None and emulation.device_step_time_s is not None
    return Slot(
        address="",
        num_cpus=max(1, math.ceil(quota)),
        cpu_quota_cores=quota,
        vcpus=known.vcpus,
        threads_per_core=known.threads_per_core,
        has_device=is_declared and known.accelerator is not None,
    )


def _vcpu_cores(job: TrainingJob, each: PlacedGroup, slot: Slot) -> float | None:
    """Return the cores of each data worker, where they are as many as on the cluster.

    A number that is chosen for this machine is smaller, and stands for all vCPUs; scripts
    choose theirs for the cluster.
    """
    is_chosen = each.role == "train" or each.group.runs == "script"
    are_vcpus = is_chosen or job.num_data_workers is not None
    if slot.cpu_quota_cores is None or slot.vcpus is None or not are_vcpus:
        return None
    return slot.cpu_quota_cores / slot.vcpus


def num_workers(
    job: TrainingJob,
    role: Role,
    *,
    quota: float | None,
    num_cpus: int,
    num_trainers: int = 1,
) -> int:
    """Return the data workers of an instance: as the job says, or one for each core.

    Several trainers have as many each as the job says, or share the cores.

    A trainer that is fed by a data group, and has less than a core to itself, keeps it. Of an
    emulated instance its cores on the cluster decide, and few processes here stand for many.

    Args:
        job: What is run, at its time dilation.
        role: What the instance does.
        quota: Cores that stand for it; None: no limit.
        num_cpus: What it takes for its number of CPUs.
        num_trainers: Trainers on it.
    """
    asked = job.num_loader_workers if role == "train" else job.num_data_workers
    if asked is not None:
        return asked
    is_fed = role == "train" and job.cluster.is_heterogeneous
    sharing = max(1, num_trainers)
    here = max(1, num_cpus // sharing)
    if is_fed and quota is not None:
        cores = quota * dilation_of_job(job)
        return min(here, math.floor(cores / sharing + ROUNDING))
    return here


def named(job: TrainingJob) -> TrainingJob:
    """Return the job with a name that tells script and time, unique within a process tree."""
    if job.job_name is not None:
        return job
    stem = re.sub(r"[^A-Za-z0-9]+", "-", Path(job.entry_point).stem).strip("-")[:32] or "job"
    now = time.time()
    moment = time.strftime("%Y%m%d-%H%M%S", time.gmtime(now))
    name = f"{stem}-{moment}-{time.time_ns() // 1000 % 1_000_000:06d}"
    return job.model_copy(update={"job_name": name})


def speed_units_of_type(job: TrainingJob, known: InstanceType) -> float:
    """Return the vCPUs of an instance type, weighted by their relative speed."""
    return known.vcpus * vcpu_speed(job, known)


def vcpu_speed(job: TrainingJob, known: InstanceType) -> float:
    """Return the relative speed of a vCPU of an instance type, as a job has it."""
    overrides = job.emulation.relative_cpu_speed if job.emulation else {}
    return relative_cpu_speed(known, overrides).value


def price_notes(where: Placed) -> tuple[str, ...]:
    """Return each type's price with its kind and date."""
    notes = []
    for name, known in {e.group.instance_type: e.known for e in where.groups}.items():
        price = None if known is None else known.price
        notes.append(
            f"{name}: {NO_PRICE_HERE if name == LOCAL else 'price unknown'}"
            if price is None
            else f"{name}: ${price.usd_per_hour:g}/h, {price.kind}, {price.date}"
        )
    return tuple(notes)
