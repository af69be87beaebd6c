"""What is asked of Ray for a job, before any cluster is there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from smtc_lab.errors import SpecError
from smtc_lab.launchers.emulation.emulated_devices import device_facts
from smtc_lab.launchers.emulation.emulated_link import link_facts, link_problems
from smtc_lab.launchers.job_environment import elsewhere_problems
from smtc_lab.launchers.launcher import LaunchPlan
from smtc_lab.launchers.planning import (
    Slot,
    emulated_slot,
    entry_point_problems,
    instance_plans,
    instance_type_problems,
    named,
    place,
    price_notes,
)
from smtc_lab.launchers.source_archive import source_problems
from smtc_lab.machine.cores import versions

if TYPE_CHECKING:
    from smtc_lab.catalog.catalog import Catalog
    from smtc_lab.catalog.placed import Placed, PlacedGroup
    from smtc_lab.instance.plan import InstancePlan
    from smtc_lab.spec.job import TrainingJob


def check(job: TrainingJob, catalog: Catalog) -> list[str]:
    """Return every reason why no Ray cluster can run a job; empty: some can."""
    try:
        _checked(job, catalog)
    except SpecError as error:
        return error.problems
    return []


def _checked(job: TrainingJob, catalog: Catalog) -> Placed:
    """Return where a job is placed, once nothing is wrong with it."""
    problems = [*entry_point_problems(job), *instance_type_problems(job, catalog)]
    where = None
    if not problems:
        problems = source_problems(job.entry_point)
        try:
            where = place(job, catalog)
        except SpecError as error:
            problems += error.problems
    if where is not None and not problems:
        problems = link_problems(job, where)
    problems += elsewhere_problems(job, "Ray's nodes run their own")
    if where is None or problems:
        raise SpecError(problems)
    return where


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
    where = _checked(job, catalog)
    job = _as_fast_as_asked(named(job))
    instances = _instances(job, where)
    facts = {
        "time_dilation": job.emulation.time_dilation if job.emulation else None,
        "cores_per_vcpu": _cores_per_vcpu(job),
        "device_step_time_s": job.emulation.device_step_time_s if job.emulation else None,
        **link_facts(job, where),
        **device_facts(job, where),
        "cpu_quota_cores": {item.host: item.cpu_quota_cores for item in instances},
        "grace_s": grace_s,
        "ray_address": address,
        "versions": versions(),
    }
    return LaunchPlan(
        launcher="ray",
        job=job,
        instances=instances,
        usd_per_hour=where.usd_per_hour,
        price_notes=price_notes(where),
        facts=facts,
    )


def _instances(job: TrainingJob, where: Placed) -> tuple[InstancePlan, ...]:
    scale = _cores_per_vcpu(job)

    def slot_of(host: str, each: PlacedGroup) -> Slot:
        del host
        if each.known is None or scale is None:
            return Slot(address="", num_cpus=1 if each.known is None else each.known.vcpus)
        return emulated_slot(job, each.known, cores_per_vcpu=scale)

    return instance_plans(job, where, slot_of)


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
