"""What is asked of Ray for a job, before any cluster is there."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from smtc_lab.catalog.roles import roles
from smtc_lab.catalog.trainers import trainers_per_instance
from smtc_lab.errors import SpecError
from smtc_lab.launchers.emulation.emulated_devices import device_facts
from smtc_lab.launchers.emulation.emulated_link import link_facts, link_problems
from smtc_lab.launchers.job_environment import elsewhere_problems
from smtc_lab.launchers.launcher import LaunchPlan
from smtc_lab.launchers.planning import (
    Slot,
    emulated_slot,
    entry_point_problems,
    group_problems,
    instance_plans,
    instance_type_problems,
    named,
    price_notes,
)
from smtc_lab.launchers.source_archive import source_problems
from smtc_lab.machine.cores import versions
from smtc_lab.spec.cluster import LOCAL

if TYPE_CHECKING:
    from smtc_lab.catalog.catalog import Catalog
    from smtc_lab.instance.plan import InstancePlan
    from smtc_lab.spec.cluster import InstanceGroup
    from smtc_lab.spec.job import TrainingJob


def check(job: TrainingJob, catalog: Catalog) -> list[str]:
    """Return every reason why no Ray cluster can run a job; empty: some can."""
    problems = [*entry_point_problems(job), *instance_type_problems(job, catalog)]
    if not problems:
        problems = [*source_problems(job.entry_point), *group_problems(job, catalog)]
    if not problems:
        problems = link_problems(job, catalog)
    problems += elsewhere_problems(job, "Ray's nodes run their own")
    return problems


def make_plan(
    job: TrainingJob, catalog: Catalog, *, grace_s: float, address: str
) -> LaunchPlan:
    """Return what will be asked of a cluster. Addresses and sizes are those of its nodes.

    An emulation that names cores_per_vcpu or a time dilation gives each instance that quota,
    with a node's cores taken for vCPUs of relative speed 1; one that names neither, and a job
    without any, use the nodes as they are. Nothing is slowed down that does not say so.

    Args:
        job: What to run.
        catalog: Where instance types are looked up.
        grace_s: Time between TERM and KILL in seconds.
        address: The cluster; empty: one that is started for this run.

    Raises:
        SpecError: No cluster can run the job; all reasons at once.
    """
    if problems := check(job, catalog):
        raise SpecError(problems)
    job = _as_fast_as_asked(named(job))
    instances = _instances(job, catalog)
    facts = {
        "time_dilation": job.emulation.time_dilation if job.emulation else None,
        "cores_per_vcpu": _cores_per_vcpu(job),
        "device_step_time_s": job.emulation.device_step_time_s if job.emulation else None,
        **link_facts(job, catalog),
        **device_facts(job, catalog),
        "cpu_quota_cores": {item.host: item.cpu_quota_cores for item in instances},
        "grace_s": grace_s,
        "ray_address": address,
        "versions": versions(),
    }
    return LaunchPlan(
        launcher="ray",
        job=job,
        instances=instances,
        usd_per_hour=catalog.usd_per_hour(job.cluster),
        price_notes=price_notes(job, catalog),
        facts=facts,
    )


def _instances(job: TrainingJob, catalog: Catalog) -> tuple[InstancePlan, ...]:
    scale = _cores_per_vcpu(job)
    role_of = roles(job.cluster, catalog)
    trainers = trainers_per_instance(job, role_of, catalog)

    def slot_of(host: str, group: InstanceGroup) -> Slot:
        del host
        kind, num_trainers = group.instance_type, trainers[group.instance_group_name]
        if kind == LOCAL:
            return Slot(address="", num_cpus=1, num_trainers=num_trainers)
        if scale is None:
            cpus = catalog.get(kind).vcpus
            return Slot(address="", num_cpus=cpus, num_trainers=num_trainers)
        slot = emulated_slot(job, catalog, kind, cores_per_vcpu=scale)
        return replace(slot, num_trainers=num_trainers)

    return instance_plans(job, role_of, slot_of)


def _as_fast_as_asked(job: TrainingJob) -> TrainingJob:
    """Return a job whose emulation names its time dilation: none but what it asks for."""
    if job.emulation is None or job.emulation.time_dilation is not None:
        return job
    emulation = job.emulation.model_copy(update={"time_dilation": 1.0})
    return job.model_copy(update={"emulation": emulation})


def _cores_per_vcpu(job: TrainingJob) -> float | None:
    """Return the cores of a node that stand for one vCPU; None: the node is as it is."""
    emulation = job.emulation
    if emulation is None:
        return None
    scale, dilation = emulation.cores_per_vcpu, emulation.dilation
    return 1 / dilation if scale is None and dilation > 1 else scale
