"""What the agent of an instance is told; the same on every launcher."""

from __future__ import annotations

import ipaddress
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import smtc_lab
from smtc_lab.launch.compiler_environment import compiler_environment
from smtc_lab.launch.special_launch import MEASURE, MEMORY_LIMIT_BYTES, PARITY_STEPS

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from smtc_lab.launch.launcher import InstancePlan, LaunchPlan


@dataclass(frozen=True, kw_only=True)
class AgentPlace:
    """Where things lie on the machine of an agent."""

    run_folder: str
    """Folder of the run."""

    entry_point: Path
    """The script."""

    python: str
    """The interpreter."""

    channels: Mapping[str, str]
    """Folder of each channel of the job, by its name."""

    num_gpus: int = 0
    """Accelerators of the instance."""

    environment: Mapping[str, str] = field(default_factory=dict)
    """Variables that belong to the interpreter; they win over those of the job."""


def agent_config(plan: LaunchPlan, instance: InstancePlan, place: AgentPlace) -> dict[str, Any]:
    """Return the content of ``agent.json``.

    Args:
        plan: The whole job, with the address of every instance.
        instance: The instance that the agent stands for.
        place: The agent's machine.
    """
    job = plan.job
    return {
        "package_version": smtc_lab.__version__,
        "run_folder": place.run_folder,
        "host": instance.host,
        "hosts": {item.host: item.address for item in plan.instances},
        "instance_groups": [
            (group.instance_group_name, group.instance_type, group.instance_count)
            for group in job.cluster.instance_groups
        ],
        "command": [
            place.python,
            "-m",
            "smtc_lab.runtime.run_script",
            str(place.entry_point),
        ],
        "hyperparameters": {
            **job.hyperparameters,
            "sagemaker_program": place.entry_point.name,
            "sagemaker_submit_directory": str(place.entry_point.parent),
            "sagemaker_job_name": str(job.job_name),
            "sagemaker_container_log_level": 20,
        },
        "channels": {
            channel.channel_name: place.channels[channel.channel_name]
            for channel in job.channels
            if not channel.instance_group_names
            or instance.instance_group_name in channel.instance_group_names
        },
        "environment": {**_environment(plan, instance), **place.environment},
        "num_cpus": instance.num_cpus,
        "num_gpus": place.num_gpus,
        "cpu_quota_cores": instance.cpu_quota_cores,
        "memory_limit_bytes": (
            plan.facts.get(MEMORY_LIMIT_BYTES) if instance.role == "train" else None
        ),
        "grace_s": plan.facts["grace_s"],
    }


def _environment(plan: LaunchPlan, instance: InstancePlan) -> dict[str, str]:
    """Return the variables for an entry point; what the job says of a library's wins."""
    environment = {**plan.job.environment, **_role_environment(plan, instance)}
    if instance.role == "train":
        if PARITY_STEPS in plan.facts:
            environment["SMTC_PARITY_STEPS"] = str(plan.facts[PARITY_STEPS])
        if MEASURE in plan.facts:
            environment["SMTC_MEASURE"] = json.dumps(plan.facts[MEASURE])
        return {**compiler_environment(plan.job.compiler_config), **environment}
    return environment


def _role_environment(plan: LaunchPlan, instance: InstancePlan) -> dict[str, str]:
    """Return the variables by which our runtime, and torch, know what this instance does."""
    job = plan.job
    trainers = [item for item in plan.instances if item.rank is not None]
    environment = {
        "SMTC_ROLE": instance.role,
        "SMTC_SEED": str(job.seed),
        "SMTC_NUM_WORKERS": str(instance.num_workers),
        "SMTC_DATA_HOSTS": json.dumps(
            [item.host for item in plan.instances if item.role == "data"]
        ),
        "SMTC_ADDRESS": instance.address,
    }
    if job.num_loader_workers is not None:
        environment["SMTC_NUM_LOADER_WORKERS"] = str(job.num_loader_workers)
    if job.max_steps is not None:
        environment["SMTC_MAX_STEPS"] = str(job.max_steps)
    if job.emulation is not None and job.emulation.device_step_time_s is not None:
        environment["SMTC_DEVICE_STEP_TIME_S"] = repr(job.emulation.device_step_time_s)
    if instance.rank is not None:
        environment |= {
            "RANK": str(instance.rank),
            "GROUP_RANK": str(instance.rank),
            "LOCAL_RANK": "0",
            "WORLD_SIZE": str(len(trainers)),
            "LOCAL_WORLD_SIZE": "1",
            "MASTER_ADDR": trainers[0].address,
            "MASTER_PORT": "7777",
        }
        if ipaddress.ip_address(instance.address).is_loopback:
            environment["GLOO_SOCKET_IFNAME"] = "lo"
    return environment
