"""What a job becomes on this machine: hosts, addresses, CPU quotas, processes."""

from __future__ import annotations

import hashlib
import math
from dataclasses import replace
from itertools import count, islice
from typing import TYPE_CHECKING

import psutil

from smtc_lab.errors import SpecError
from smtc_lab.launchers.dilation import (
    dilated,
    emulation_facts,
    number_problems,
)
from smtc_lab.launchers.emulation.batch_wires import batch_facts
from smtc_lab.launchers.emulation.emulated_devices import device_facts
from smtc_lab.launchers.emulation.emulated_link import link_facts, link_problems
from smtc_lab.launchers.job_environment import environment_problems, job_environment
from smtc_lab.launchers.launcher import LaunchPlan
from smtc_lab.launchers.planning import (
    Slot,
    channel_problems,
    emulated_slot,
    entry_point_problems,
    instance_plans,
    instance_type_problems,
    named,
    place,
    price_notes,
)
from smtc_lab.machine.cores import available_cores, machine_facts, versions
from smtc_lab.machine.gpu import visible_gpus
from smtc_lab.spec.cluster import LOCAL

if TYPE_CHECKING:
    from collections.abc import Sequence

    from smtc_lab.catalog.catalog import Catalog
    from smtc_lab.catalog.placed import Placed, PlacedGroup
    from smtc_lab.instance.plan import InstancePlan
    from smtc_lab.spec.job import TrainingJob


_LEAST_TRAINER_BYTES = 1e8
"""Memory of its own that a process has once it has imported torch and joined a group."""


def check(job: TrainingJob, catalog: Catalog) -> list[str]:
    """Return every reason why this machine cannot run a job; empty: it can."""
    try:
        _checked(job, catalog, visible_gpus(), available_cores())
    except SpecError as error:
        return error.problems
    return []


def _checked(
    job: TrainingJob, catalog: Catalog, gpus: Sequence[int], cores: float
) -> tuple[TrainingJob, Placed]:
    """Return a job at its time dilation and where it is placed, once nothing is wrong."""
    problems = [
        *entry_point_problems(job),
        *instance_type_problems(job, catalog),
        *number_problems(job),
        *channel_problems(job),
        *environment_problems(job),
    ]
    if problems:
        raise SpecError(problems)
    where = None
    try:
        where = place(job, catalog, devices_here=_devices_of_each(job, gpus))
    except SpecError as error:
        problems += error.problems
    job, too_large = dilated(job, catalog, cores=cores)
    problems += too_large
    if where is not None:
        problems += link_problems(job, where)
        problems = problems or _memory_problems(where.num_trainers)
    if where is None or problems:
        raise SpecError(problems)
    return job, where


def make_plan(job: TrainingJob, catalog: Catalog, *, grace_s: float) -> LaunchPlan:
    """Return the exact request for this machine.

    Args:
        job: The job.
        catalog: Where the instance types are looked up.
        grace_s: Time between TERM and KILL in seconds.

    Raises:
        SpecError: The job cannot run here; all reasons at once.
    """
    gpus, cores = visible_gpus(), available_cores()
    job, where = _checked(named(job), catalog, gpus, cores)
    instances = _instances(job, where, gpus, cores)
    environment = job_environment(job)
    facts = {
        "num_cores": cores,
        **emulation_facts(job),
        **link_facts(job, where, is_rated=True),
        **batch_facts(job, where, instances),
        **device_facts(job, where),
        "cpu_quota_cores": {item.host: item.cpu_quota_cores for item in instances},
        "grace_s": grace_s,
        "machine": machine_facts(),
        "versions": versions(environment.packages),
        "python_environment": environment.name,
    }
    return LaunchPlan(
        launcher="local",
        job=job,
        instances=instances,
        usd_per_hour=where.usd_per_hour,
        price_notes=price_notes(where),
        facts=facts,
        environment=environment,
    )


def _instances(
    job: TrainingJob, where: Placed, gpus: Sequence[int], cores: float
) -> tuple[InstancePlan, ...]:
    scale = job.emulation.cores_per_vcpu if job.emulation else None
    prefix = _loopback_prefix(str(job.job_name))
    numbers, of_each = count(1), where.devices_here
    free = iter(gpus if of_each and of_each < len(gpus) else ())

    def slot_of(host: str, each: PlacedGroup) -> Slot:
        del host
        slot = Slot(address="", num_cpus=max(1, math.ceil(cores)))
        if scale is not None and each.known is not None:
            slot = emulated_slot(job, each.known, cores_per_vcpu=scale)
        return replace(
            slot,
            address=f"{prefix}.{next(numbers)}",
            devices=tuple(islice(free, of_each)) or None if each.num_trainers else None,
        )

    return instance_plans(job, where, slot_of)


def _memory_problems(num_trainers: int) -> list[str]:
    """Return why so many trainers would leave this machine without memory; empty: they fit."""
    free_bytes = psutil.virtual_memory().available
    most = int(free_bytes / _LEAST_TRAINER_BYTES)
    if num_trainers <= most:
        return []
    least_gb, free_gb = num_trainers * _LEAST_TRAINER_BYTES / 1e9, free_bytes / 1e9
    why = (
        f"{num_trainers} trainers need at least {least_gb:.3g} GB of memory before they have a "
        f"model, but this machine has {free_gb:.3g} GB free. Take at most {most} trainers "
        "here, or launch the job elsewhere."
    )
    return [why]


def _devices_of_each(job: TrainingJob, gpus: Sequence[int]) -> int:
    """Return how many GPUs of this machine each of its instances has, as the job divides them.

    0 where it says nothing of its distribution: then all instances see all.
    """
    groups = job.cluster.instance_groups
    here = [group for group in groups if group.instance_type == LOCAL and group.role != "data"]
    if job.distribution is None or job.emulation is not None or not here:
        return 0
    return len(gpus) // sum(group.instance_count for group in here)


def _loopback_prefix(job_name: str) -> str:
    """Return the loopback network of a run, whose instances are ``.1``, ``.2`` and so on."""
    digest = hashlib.sha256(job_name.encode()).digest()
    return f"127.{64 + digest[0] % 128}.{digest[1]}"
