"""What an instance of a plan is told; the same on every launcher."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from smtc_lab.instance.description import (
    InstanceDescription,
    Measure,
    Rendezvous,
    trainers_of,
)
from smtc_lab.instance.link import LinkDeclaration
from smtc_lab.instance.mesh import TrainerLayout
from smtc_lab.instance.variables import RESUME_VARIABLE
from smtc_lab.launchers.compiler_environment import compiler_environment
from smtc_lab.launchers.emulation.batch_wires import BatchWires
from smtc_lab.launchers.emulation.emulated_devices import limit_bytes
from smtc_lab.launchers.emulation.emulated_link import declared_link
from smtc_lab.launchers.special_launch import (
    MEASURE,
    MEMORY_LIMIT_BYTES,
    PARITY_STEPS,
    PERMUTES,
)
from smtc_lab.machine.quota.vcpu import vcpu_text

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from smtc_lab.instance.plan import InstancePlan
    from smtc_lab.launchers.launcher import LaunchPlan
    from smtc_lab.spec.job import TrainingJob


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

    working_folder: str | None = None
    """Folder in which the script works; None: that from which it is launched."""

    is_shared: bool = False
    """Whether all instances of the job are on this machine, with one run folder."""


def describe_instance(
    plan: LaunchPlan, instance: InstancePlan, place: AgentPlace
) -> InstanceDescription:
    """Return what an instance is told.

    Args:
        plan: The whole job, with the address of every instance.
        instance: The instance.
        place: Its machine.
    """
    job = plan.job
    trains = instance.role == "train"
    config, special = (job.compiler_config, plan.facts) if trains else (None, {})
    measure = special.get(MEASURE)
    return InstanceDescription(
        run_folder=place.run_folder,
        host=instance.host,
        role=instance.role,
        runs_script=instance.runs == "script",
        hosts={item.host: item.address for item in plan.instances},
        data_hosts=tuple(item.host for item in plan.instances if item.serves_loaders),
        instance_groups=_groups(job),
        trainers=trainers_of(instance.ranks, instance.devices),
        rendezvous=_rendezvous(plan, instance, in_folder=place.is_shared),
        distribution=_layout(plan),
        command=(place.python, "-m", "smtc_lab.runtime.run_script", str(place.entry_point)),
        hyperparameters={
            **job.hyperparameters,
            "sagemaker_program": place.entry_point.name,
            "sagemaker_submit_directory": str(place.entry_point.parent),
            "sagemaker_job_name": str(job.job_name),
            "sagemaker_container_log_level": 20,
        },
        arguments=job.arguments,
        metric_definitions=job.metric_definitions,
        channels={
            each.channel_name: place.channels[each.channel_name]
            for each in job.channels
            if instance.instance_group_name in (each.instance_group_names or _groups_of(job))
        },
        environment=_variables(job, place),
        num_cpus=instance.num_cpus,
        num_gpus=place.num_gpus,
        cpu_quota_cores=instance.cpu_quota_cores,
        vcpu=_vcpu(instance),
        passes_outside_quota=instance.passes_outside_quota,
        num_workers=instance.num_workers,
        num_loader_workers=job.num_loader_workers,
        seed=job.seed,
        max_steps=job.max_steps,
        device_step_time_s=_device_s(job, instance),
        link=_link(plan, instance),
        compiler=config.model_dump_json() if config is not None and config.enabled else None,
        parity_steps=special.get(PARITY_STEPS),
        permutes_samples=special.get(PERMUTES, False),
        measure=None if measure is None else Measure(**measure),
        working_folder=place.working_folder,
        memory_limit_bytes=special.get(MEMORY_LIMIT_BYTES),
        grace_s=plan.facts["grace_s"],
    )


def _groups_of(job: TrainingJob) -> tuple[str, ...]:
    return tuple(group.instance_group_name for group in job.cluster.instance_groups)


def _device_s(job: TrainingJob, instance: InstancePlan) -> float | None:
    """Return what an emulated device takes for a step here, in seconds; None: there is none.

    An emulated type without an accelerator computes the passes with its vCPUs.
    """
    is_emulated = instance.vcpus is not None
    if job.emulation is None or (is_emulated and not instance.passes_outside_quota):
        return None
    return job.emulation.dilated_device_s


def _link(plan: LaunchPlan, instance: InstancePlan) -> LinkDeclaration | None:
    """Return the network that an instance is told of; None: none is declared, or emulated."""
    declared = declared_link(plan.facts)
    batches = BatchWires.of_facts(plan.facts) if instance.role == "data" else None
    if batches is None:
        return declared
    return replace(
        declared or LinkDeclaration(inside=None, between=None),
        batch_bytes_per_s=batches.connection_bytes_per_s,
    )


def _vcpu(instance: InstancePlan) -> str | None:
    """Return what processes are told of the vCPUs that they are; None: of nothing."""
    cores, vcpus = instance.vcpu_cores, instance.vcpus
    if cores is None or vcpus is None:
        return None
    return vcpu_text(cores, vcpus, instance.threads_per_core or 1)


def _groups(job: TrainingJob) -> tuple[tuple[str, str, int], ...]:
    """Return name, instance type and count of each group."""
    return tuple(
        (group.instance_group_name, group.instance_type, group.instance_count)
        for group in job.cluster.instance_groups
    )


def _variables(job: TrainingJob, place: AgentPlace) -> dict[str, str]:
    """Return the variables for the entry point, of libraries, the job, and the interpreter."""
    libraries = compiler_environment(job.compiler_config)
    resumes = {} if job.resume is None else {RESUME_VARIABLE: job.resume}
    return {**libraries, **job.environment, **place.environment, **resumes}


def _port(plan: LaunchPlan) -> int:
    """Return the port of rank 0: each job has its own, below those that a system gives away."""
    digest = hashlib.sha256(str(plan.job.job_name).encode()).digest()
    return 20_000 + int.from_bytes(digest[:4]) % 10_000


def _layout(plan: LaunchPlan) -> TrainerLayout | None:
    """Return the job's distribution with no number open; None: it has none."""
    asked = plan.job.distribution
    if asked is None:
        return None
    return TrainerLayout(
        data=asked.replicas(plan.num_trainers),
        shard=asked.shard,
        pipeline=asked.pipeline,
        microbatches=asked.num_microbatches,
        schedule=asked.schedule,
        memory_weight=asked.memory_weight,
        tensor=asked.tensor,
        activation_checkpointing=asked.activation_checkpointing,
        activation_offload=asked.activation_offload,
        pins=asked.pins,
        default_partition=asked.default_partition,
        limit_bytes=limit_bytes(asked, plan.facts),
    )


def _rendezvous(
    plan: LaunchPlan, instance: InstancePlan, *, in_folder: bool
) -> Rendezvous | None:
    """Return how the trainers of an instance find the others; None: it has none."""
    hosts = [item.host for item in plan.instances if item.ranks]
    if instance.host not in hosts:
        return None
    return Rendezvous(
        host=hosts[0],
        port=_port(plan),
        world_size=plan.num_trainers,
        group_rank=hosts.index(instance.host),
        num_groups=len(hosts),
        in_folder=in_folder,
    )
