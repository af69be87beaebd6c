"""What a plan becomes once Ray has found a node for each instance."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from smtc_lab.errors import LauncherError
from smtc_lab.instance.plan import InstancePlan
from smtc_lab.launchers.descriptions import AgentPlace, describe_instance
from smtc_lab.launchers.launcher import LaunchPlan
from smtc_lab.launchers.planning import num_workers
from smtc_lab.machine.cores import versions
from smtc_lab.store.reader import read_job

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from smtc_lab.store.run_folder import RunFolder


@dataclass(frozen=True, kw_only=True)
class RayNode:
    """A node, as its actor describes it."""

    address: str
    """Address of the node, which the instance listens on."""

    interface: str
    """Network interface of that address; empty: not known."""

    num_cpus: int
    """Cores that the actor may use, at least 1."""

    num_gpus: int
    """GPUs that Ray gave to the actor."""

    node_id: str
    """Ray's name for the node."""

    python: str
    """The interpreter there."""

    run_folder: str
    """Folder of the run there."""

    source_folder: str
    """Folder of the entry point there."""

    version: str
    """Version of smtc-lab there."""


def read_plan(folder: RunFolder) -> LaunchPlan:
    """Return the plan of a run that is about to be placed."""
    values = json.loads(folder.plan_file.read_text(encoding="utf-8"))
    return LaunchPlan(
        launcher=values["launcher"],
        job=read_job(folder),
        instances=tuple(InstancePlan(**item) for item in values["instances"]),
        usd_per_hour=values["usd_per_hour"],
        price_notes=tuple(values["price_notes"]),
        facts=values["facts"],
    )


def placed(
    plan: LaunchPlan, places: Sequence[RayNode], *, cpus_of_node: Mapping[str, int]
) -> LaunchPlan:
    """Return the plan with the nodes' own addresses and sizes.

    Args:
        plan: What was asked for.
        places: Where each of its instances is, in order.
        cpus_of_node: CPUs that Ray may use on a node, by its id; fewer than it has where its
            owner said so.

    Raises:
        LauncherError: A node has another version of smtc-lab.
    """
    own = versions().get("smtc-lab", "unknown")
    for place in places:
        if place.version != own:
            raise LauncherError(
                f"Node {place.address} has smtc-lab {place.version}, and this machine {own}. "
                f"Run there: pip install 'smtc-lab[ray]=={own}'."
            )
    instances = []
    for instance, place in zip(plan.instances, places, strict=True):
        quota = instance.cpu_quota_cores
        num_cpus = min(place.num_cpus, cpus_of_node.get(place.node_id, place.num_cpus))
        if quota is not None:
            num_cpus = max(1, math.ceil(quota))
        workers = num_workers(
            plan.job,
            instance.role,
            quota=quota,
            num_cpus=num_cpus,
            num_trainers=len(instance.ranks),
        )
        instances.append(
            replace(instance, address=place.address, num_cpus=num_cpus, num_workers=workers)
        )
    return replace(plan, instances=tuple(instances))


def agent_text(plan: LaunchPlan, instance: InstancePlan, place: RayNode) -> str:
    """Return the content of ``agent.json`` for a node."""
    entry_point = Path(place.source_folder, Path(plan.job.entry_point).name)
    told = describe_instance(
        plan,
        instance,
        AgentPlace(
            run_folder=place.run_folder,
            entry_point=entry_point,
            python=place.python,
            channels={channel.channel_name: channel.source for channel in plan.job.channels},
            num_gpus=place.num_gpus,
        ),
    )
    if place.interface:
        # both look for the machine's own name otherwise, which is often that of a loopback
        names = dict.fromkeys(("GLOO_SOCKET_IFNAME", "NCCL_SOCKET_IFNAME"), place.interface)
        told = replace(told, environment={**names, **told.environment})
    return told.to_json()
