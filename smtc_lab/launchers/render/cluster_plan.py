"""What a job becomes on the machines that a scheduler gave it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from smtc_lab.catalog.placed import placed
from smtc_lab.launchers.descriptions import AgentPlace, describe_instance
from smtc_lab.launchers.launcher import LaunchPlan
from smtc_lab.launchers.planning import Slot, instance_plans, price_notes
from smtc_lab.launchers.render.needs import needs_of
from smtc_lab.machine.cores import machine_facts, versions

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from smtc_lab.catalog.catalog import Catalog
    from smtc_lab.catalog.placed import PlacedGroup
    from smtc_lab.instance.plan import InstancePlan
    from smtc_lab.spec.job import TrainingJob
    from smtc_lab.store.run_folder import RunFolder

GRACE_S = 20.0
"""Time between TERM and KILL. Slurm and Kubernetes kill after 30 s, so an agent comes first."""


def cluster_plan(
    job: TrainingJob,
    catalog: Catalog,
    *,
    launcher: str,
    addresses: Sequence[str],
    facts: Mapping[str, object] | None = None,
) -> LaunchPlan:
    """Return the plan of a job whose machines are known.

    Args:
        job: The job, with its name.
        catalog: Where the instance types are looked up.
        launcher: What the plan calls the scheduler.
        addresses: IP address of each instance, in the order of the cluster's hosts.
        facts: What else is known of how the job is carried out.
    """
    address_of = dict(zip(job.cluster.hosts(), addresses, strict=True))
    where = placed(job, catalog)

    def slot_of(host: str, each: PlacedGroup) -> Slot:
        cpus = needs_of(each.group.instance_type, catalog).cpus
        return Slot(address=address_of[host], num_cpus=cpus)

    return LaunchPlan(
        launcher=launcher,
        job=job,
        instances=instance_plans(job, where, slot_of),
        usd_per_hour=where.usd_per_hour,
        price_notes=price_notes(where),
        facts={
            "grace_s": GRACE_S,
            "machine": machine_facts(),
            "versions": versions(),
            **(facts or {}),
        },
    )


def write_agent_config(
    folder: RunFolder,
    plan: LaunchPlan,
    instance: InstancePlan,
    catalog: Catalog,
    *,
    is_again: bool = False,
) -> Path:
    """Write what the agent of an instance reads, and return where that is.

    Args:
        folder: The run's folder.
        plan: The plan of the job.
        instance: The instance.
        catalog: Where its type is looked up.
        is_again: Whether an earlier attempt of the run may have written it.

    Raises:
        FileExistsError: The folder holds this instance of another run already.
    """
    told = describe_instance(
        plan,
        instance,
        AgentPlace(
            run_folder=str(folder.path),
            entry_point=Path(plan.job.entry_point).absolute(),
            python=sys.executable,
            channels={
                channel.channel_name: str(Path(channel.source).absolute())
                for channel in plan.job.channels
            },
            num_gpus=needs_of(instance.instance_type, catalog).gpus,
        ),
    )
    folder.instance(instance.host).mkdir(parents=True, mode=0o700, exist_ok=is_again)
    path = folder.agent_file(instance.host)
    path.write_text(told.to_json(), encoding="utf-8")
    return path
