"""What is asked of Ray for a job, before any cluster is there."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from smtc_lab.catalog.roles import roles
from smtc_lab.errors import SpecError
from smtc_lab.launch.launcher import InstancePlan, LaunchPlan
from smtc_lab.launch.local_plan import default_workers, speed_units_of_type
from smtc_lab.launch.planning import (
    entry_point_problems,
    group_problems,
    instance_type_problems,
    named,
    price_notes,
)
from smtc_lab.launch.source_archive import source_problems
from smtc_lab.machine.cores import versions
from smtc_lab.spec.cluster import LOCAL

if TYPE_CHECKING:
    from collections.abc import Iterable

    from smtc_lab.catalog.catalog import Catalog
    from smtc_lab.spec.job import TrainingJob


def check(job: TrainingJob, catalog: Catalog) -> list[str]:
    """Return every reason why no Ray cluster can run a job; empty: some can."""
    problems = [*entry_point_problems(job), *instance_type_problems(job, catalog)]
    if not problems:
        problems = [*source_problems(job.entry_point), *group_problems(job, catalog)]
    return problems


def make_plan(
    job: TrainingJob, catalog: Catalog, *, grace_s: float, address: str
) -> LaunchPlan:
    """Return what will be asked of a cluster. Addresses and sizes are those of its nodes.

    An emulation that names its scale gives each instance that CPU quota; one that does not, and
    a job without any, use the nodes as they are.

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
    job = named(job)
    instances = tuple(_instances(job, catalog))
    facts = {
        "cores_per_vcpu": job.emulation.cores_per_vcpu if job.emulation else None,
        "device_step_time_s": job.emulation.device_step_time_s if job.emulation else None,
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


def _instances(job: TrainingJob, catalog: Catalog) -> Iterable[InstancePlan]:
    role_of = roles(job.cluster, catalog)
    scale = job.emulation.cores_per_vcpu if job.emulation else None
    rank = 0
    for host, group in job.cluster.hosts().items():
        kind, role = group.instance_type, role_of[group.instance_group_name]
        is_real = kind == LOCAL
        quota = (
            None
            if scale is None or is_real
            else scale * speed_units_of_type(job, catalog, kind)
        )
        num_cpus = 1 if is_real else catalog.get(kind).vcpus
        num_cpus = num_cpus if quota is None else max(1, math.ceil(quota))
        asked = job.num_loader_workers if role == "train" else job.num_data_workers
        yield InstancePlan(
            host=host,
            address="",
            instance_group_name=group.instance_group_name,
            instance_type=kind,
            role=role,
            cpu_quota_cores=quota,
            num_cpus=num_cpus,
            num_workers=default_workers(job, role, quota, num_cpus) if asked is None else asked,
            rank=rank if role == "train" else None,
        )
        rank += role == "train"
