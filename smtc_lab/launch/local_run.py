"""What a run on this machine consists of on disk, before anything is started."""

from __future__ import annotations

import json
import secrets
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smtc_lab.launch.compiler_environment import compiler_environment
from smtc_lab.launch.special_launch import MEASURE, MEMORY_LIMIT_BYTES, PARITY_STEPS

if TYPE_CHECKING:
    from smtc_lab.launch.launcher import InstancePlan, LaunchPlan
    from smtc_lab.store.run_folder import RunFolder


def write_run(folder: RunFolder, plan: LaunchPlan) -> None:
    """Write what the supervisor and the agents read, and what a reader wants to know later."""
    job = plan.job
    folder.secret_file.touch(mode=0o600)
    folder.secret_file.write_bytes(secrets.token_bytes(32))
    folder.job_file.write_text(job.to_json(), encoding="utf-8")
    instances = [asdict(instance) for instance in plan.instances]
    text = json.dumps(
        {
            "launcher": plan.launcher,
            "instances": instances,
            "usd_per_hour": plan.usd_per_hour,
            "price_notes": plan.price_notes,
            "grace_s": plan.facts["grace_s"],
            "max_runtime_s": job.max_runtime_s,
            "facts": plan.facts,
        },
        indent=1,
    )
    folder.plan_file.write_text(text, encoding="utf-8")
    for instance in plan.instances:
        place = folder.instance(instance.host)
        place.mkdir(parents=True, mode=0o700)
        config = json.dumps(_agent_config(folder, plan, instance), indent=1)
        (place / "agent.json").write_text(config, encoding="utf-8")


def _agent_config(
    folder: RunFolder, plan: LaunchPlan, instance: InstancePlan
) -> dict[str, Any]:
    job = plan.job
    entry_point = Path(job.entry_point).resolve()
    channels = {
        channel.channel_name: str(Path(channel.source).resolve())
        for channel in job.channels
        if not channel.instance_group_names
        or instance.instance_group_name in channel.instance_group_names
    }
    return {
        "run_folder": str(folder.path),
        "host": instance.host,
        "hosts": {item.host: item.address for item in plan.instances},
        "instance_groups": [
            (group.instance_group_name, group.instance_type, group.instance_count)
            for group in job.cluster.instance_groups
        ],
        "command": [sys.executable, "-m", "smtc_lab.runtime.run_script", str(entry_point)],
        "hyperparameters": {
            **job.hyperparameters,
            "sagemaker_program": entry_point.name,
            "sagemaker_submit_directory": str(entry_point.parent),
            "sagemaker_job_name": folder.job_name,
            "sagemaker_container_log_level": 20,
        },
        "channels": channels,
        "environment": _environment(plan, instance),
        "num_cpus": instance.num_cpus,
        "num_gpus": 0,
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
            "GLOO_SOCKET_IFNAME": "lo",
        }
    return environment
