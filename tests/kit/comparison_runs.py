"""Builders of the runs behind a comparison: clusters to make up, and their records."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from smtc_lab.metrics.records.records import EventRecord, RunRecords, StepRecord, SystemSample
from smtc_lab.spec.cluster import Cluster, InstanceGroup
from smtc_lab.spec.job import TrainingJob

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smtc_lab.spec.emulation import Emulation

STARTUP_S = 1.6
"""Time from the start of a launch to the begin of its first step, in seconds."""

BATCH_SIZE = 32
"""Samples of one step."""

_BEGIN_S = 1_793_700_900.0


@dataclass(frozen=True, kw_only=True, slots=True)
class ExampleGroup:
    """An instance group to make results of."""

    instance_group_name: str
    """Name of the group."""

    instance_type: str
    """Type of its instances."""

    vcpus: int
    """vCPUs of one instance."""

    usd_per_hour: float | None
    """Price of one instance; None: unknown."""

    cpu_fraction: float
    """Share of its CPU quota that it uses while steps run."""

    price_kind: str = "historical"
    """``list``, ``historical``, ``estimated`` or ``user``."""

    price_date: str = "2022-10-27"
    """Date of the price."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ExampleCluster:
    """A cluster to make results of."""

    groups: tuple[ExampleGroup, ...]
    """Its groups, one instance each."""

    step_time_s: float
    """Mean of the step times to draw, in seconds."""

    steps: int
    """Steps of one launch, warm-up included."""

    launches: int = 3
    """Number of launches."""

    name: str | None = None
    """Name of the cluster; None: ``homogeneous`` or ``heterogeneous``."""


P3 = ExampleGroup(
    instance_group_name="dnn_group",
    instance_type="ml.p3.2xlarge",
    vcpus=8,
    usd_per_hour=3.825,
    cpu_fraction=0.98,
)
C5 = ExampleGroup(
    instance_group_name="data_group",
    instance_type="ml.c5.9xlarge",
    vcpus=36,
    usd_per_hour=1.836,
    cpu_fraction=0.91,
)
HOMOGENEOUS = ExampleCluster(groups=(P3,), step_time_s=0.62, steps=40)
HETEROGENEOUS = ExampleCluster(groups=(P3, C5), step_time_s=0.105, steps=120)


def example_job(example: ExampleCluster, *, place: int = 1, launch: int = 1) -> TrainingJob:
    """Return the job of a launch; its place in the comparison and its number are from 1."""
    cluster = Cluster(
        instance_groups=tuple(
            InstanceGroup(group.instance_group_name, group.instance_type, 1)
            for group in example.groups
        ),
        name=example.name,
    )
    words = re.findall(r"[A-Za-z0-9]+", cluster.label)[:3]
    name = "-".join(["train-images", *(word[:14] for word in words), f"{place}-{launch}"])
    return TrainingJob(
        entry_point="train_images.py",
        cluster=cluster,
        job_name=name,
        hyperparameters={"batch-size": BATCH_SIZE, "learning-rate": 0.01},
        max_steps=example.steps,
    )


def example_runs(
    example: ExampleCluster,
    place: int,
    emulation: Emulation | None,
    device_step_time_s: float,
    rng: np.random.Generator,
) -> list[RunRecords]:
    """Return the records of every launch of a cluster.

    Args:
        example: The cluster.
        place: Its place in the comparison, from 1.
        emulation: How it is emulated; None: the hardware is there.
        device_step_time_s: Time that the device computes in each step, in seconds.
        rng: Draws the step times.
    """
    runs = []
    for launch in range(1, example.launches + 1):
        started_s = _BEGIN_S + 120.0 * launch
        step_time_s = _drawn_step_times(example, rng)
        slower = 1.0 if emulation is None else emulation.dilation
        ends_s = started_s + STARTUP_S + np.cumsum(step_time_s * slower)
        steps = [
            StepRecord(
                step=step,
                end_time_s=float(end_s),
                step_time_s=slower * float(time_s),
                data_wait_s=slower * max(0.0, float(time_s) - device_step_time_s - 0.01),
                device_time_s=slower * min(device_step_time_s, float(time_s)),
                num_samples=BATCH_SIZE,
                synchronized=True,
            )
            for step, (time_s, end_s) in enumerate(zip(step_time_s, ends_s, strict=True))
        ]
        job = example_job(example, place=place, launch=launch)
        cores_per_vcpu = emulation.cores_per_vcpu if emulation else None
        ended_s = float(ends_s[-1]) + 0.4
        runs.append(
            RunRecords(
                job=job.model_copy(update={"emulation": emulation}),
                state="Completed",
                started_s=started_s,
                ended_s=ended_s,
                steps={"algo-1-rank0": steps},
                system={
                    f"algo-{host}": _system(group, started_s, ended_s, cores_per_vcpu, rng)
                    for host, group in enumerate(example.groups, start=1)
                },
                events=[
                    EventRecord(
                        time_s=ended_s, kind="state", host="", message="The run is Completed."
                    )
                ],
            )
        )
    return runs


def _drawn_step_times(example: ExampleCluster, rng: np.random.Generator) -> NDArray[np.float64]:
    """Draw correlated step times that begin slowly, as those of a filling pipeline do."""
    noise = rng.normal(0.0, 0.12, example.steps)
    for step in range(1, example.steps):
        noise[step] += 0.3 * noise[step - 1]
    filling = 1.6 * np.exp(-np.arange(example.steps) / 1.5)
    drawn: NDArray[np.float64] = example.step_time_s * np.exp(noise - 0.008) * (1 + filling)
    return drawn


def _system(
    group: ExampleGroup,
    started_s: float,
    ended_s: float,
    cores_per_vcpu: float | None,
    rng: np.random.Generator,
) -> list[SystemSample]:
    quota = group.vcpus * cores_per_vcpu if cores_per_vcpu else None
    samples = []
    for time_s in np.arange(started_s + 0.5, ended_s, 0.5):
        is_starting = time_s < started_s + STARTUP_S
        fraction = group.cpu_fraction * (0.4 if is_starting else rng.uniform(0.96, 1.02))
        used_s = 0.5 * min(1.0, fraction) * (quota or 2.0)
        samples.append(
            SystemSample(
                time_s=float(time_s),
                interval_s=0.5,
                cpu_used_s=used_s,
                cpu_asked_s=used_s * 1.01,
                cpu_quota_cores=None if is_starting else quota,
                memory_bytes=700 * 2**20,
                network_received_bytes=0,
                network_sent_bytes=0,
                gpu_utilization_fraction=None,
                gpu_memory_bytes=None,
            )
        )
    return samples
