"""Builders of realistic records of runs. A test names only what matters to it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from smtc_lab.metrics.records.records import (
    EventRecord,
    LoaderRecord,
    RunRecords,
    StepRecord,
    SystemSample,
)
from smtc_lab.spec.cluster import Cluster
from smtc_lab.spec.job import TrainingJob

if TYPE_CHECKING:
    from collections.abc import Sequence

    from smtc_lab.spec.emulation import Emulation

HOMOGENEOUS = "dnn_group=ml.p3.2xlarge:1"
"""A cluster of one group, as a command line writes it."""

HETEROGENEOUS = "dnn_group=ml.p3.2xlarge:1,data_group=ml.c5.9xlarge:1"
"""The same with a data group."""

STARTED_S = 1_793_700_900.0
"""When the runs of these builders start, in seconds since the epoch."""

_STEP = StepRecord(
    step=0,
    end_time_s=STARTED_S + 2.0,
    step_time_s=0.2,
    data_wait_s=0.1,
    device_time_s=None,
    num_samples=32,
    synchronized=True,
)
_SAMPLE = SystemSample(
    time_s=STARTED_S + 0.5,
    interval_s=0.5,
    cpu_used_s=0.4,
    cpu_asked_s=0.4,
    cpu_quota_cores=1.0,
    memory_bytes=700 * 2**20,
    network_received_bytes=0,
    network_sent_bytes=0,
    gpu_utilization_fraction=None,
    gpu_memory_bytes=None,
)


def step_record(**overrides: Any) -> StepRecord:  # noqa: ANN401  any field of a StepRecord
    """Return a step of 0.2 s, half of it data wait, with these fields changed."""
    return replace(_STEP, **overrides)


def system_sample(**overrides: Any) -> SystemSample:  # noqa: ANN401  any field of a SystemSample
    """Return a sample of 0.5 s at 80 % of a quota of 1 core, with these fields changed."""
    return replace(_SAMPLE, **overrides)


def loader_record(server: str, batches: int) -> LoaderRecord:
    """Return what a loader tells of so many batches of a server."""
    return LoaderRecord(
        time_s=STARTED_S + 3.0,
        server=server,
        batches=batches,
        received_bytes=0,
        get_wait_s=0.0,
        worker_busy_s=0.0,
        requests_sent_again=0,
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class ExampleRun:
    """How the run of ``run_records`` goes, apart from its step times."""

    cluster: Cluster | str = HOMOGENEOUS
    """The cluster, or the text that ``Cluster.parse`` takes. Its first group trains."""

    job_name: str = "train-r1"
    """Name of the run."""

    state: str = "Completed"
    """SageMaker's spelling."""

    startup_s: float = 2.0
    """From the start of the instances to the begin of the first step, in seconds."""

    shutdown_s: float = 0.5
    """From the end of the last step to the end of the last instance, in seconds."""

    between_s: float = 0.0
    """Time between two steps on the clock of this machine, in seconds."""

    num_ranks: int = 1
    """Trainers; each takes the same step times."""

    num_samples: int | None = 32
    """Samples of a step on one rank; None: not known."""

    data_wait_fraction: float = 0.5
    """Share of each step that is data wait."""

    device_time_s: float | None = None
    """Device time of each step in seconds; None: not known."""

    emulation: Emulation | None = None
    """How the run was emulated; None: the hardware was there."""

    cpu_quota_cores: float | None = 1.0
    """CPU quota of each instance in cores; None: no quota."""

    cpu_used_fraction: float = 0.8
    """Share of its quota (or of 2 cores) that each instance uses."""

    cpu_delivered_fraction: float = 1.0
    """Share of the CPU time it asks for that each instance gets."""


def run_records(
    step_time_s: Sequence[float] = (0.4, *[0.2] * 19),
    **example: Any,  # noqa: ANN401  any field of an ExampleRun
) -> RunRecords:
    """Return the records of one run.

    Args:
        step_time_s: Step times in seconds, warm-up included. Those of an emulation are in
            cluster time, as it is told, and are recorded as they were here.
        example: Fields of ``ExampleRun``.
    """
    how = ExampleRun(**example)
    cluster = Cluster.parse(how.cluster) if isinstance(how.cluster, str) else how.cluster
    steps = []
    end_time_s = STARTED_S + how.startup_s
    slower = 1.0 if how.emulation is None else how.emulation.dilation
    for number, told_s in enumerate(step_time_s):
        time_s = told_s * slower
        end_time_s += time_s + how.between_s
        steps.append(
            step_record(
                step=number,
                end_time_s=end_time_s,
                step_time_s=time_s,
                data_wait_s=time_s * how.data_wait_fraction,
                device_time_s=None if how.device_time_s is None else how.device_time_s * slower,
                num_samples=how.num_samples,
            )
        )
    ended_s = end_time_s + how.shutdown_s
    job = TrainingJob(
        entry_point="train.py",
        cluster=cluster,
        job_name=how.job_name,
        emulation=how.emulation,
    )
    return RunRecords(
        job=job,
        state=how.state,
        started_s=STARTED_S,
        ended_s=ended_s,
        facts=_facts(how, cluster),
        steps={f"algo-1-rank{rank}": list(steps) for rank in range(how.num_ranks)},
        system={host: _samples(how, ended_s) for host in cluster.hosts()},
        events=[
            EventRecord(
                time_s=ended_s, kind="state", host="", message=f"The run is {how.state}."
            )
        ],
    )


def jittered(mean_s: float, num_steps: int = 60, seed: int = 0) -> list[float]:
    """Return step times in seconds that scatter by 2 % around their mean, drawn by the seed."""
    rng = np.random.default_rng(seed)
    return [float(time_s) for time_s in mean_s * (1 + 0.02 * rng.standard_normal(num_steps))]


def interleaved_runs(rounds: int = 3, **example: Any) -> list[RunRecords]:  # noqa: ANN401  any field of an ExampleRun
    """Return launches of ``HOMOGENEOUS`` and, six times as fast, ``HETEROGENEOUS``, in turn.

    Args:
        rounds: Launches of each cluster.
        example: Fields of ``ExampleRun``, for all launches.
    """
    return [
        run_records(
            jittered(mean_s, seed=number),
            **{"cluster": cluster, "job_name": f"{name}-r{number + 1}", **example},
        )
        for number in range(rounds)
        for cluster, mean_s, name in ((HOMOGENEOUS, 0.6, "homo"), (HETEROGENEOUS, 0.1, "het"))
    ]


def _facts(how: ExampleRun, cluster: Cluster) -> dict[str, object]:
    return {
        "cpu_quota_mechanism": "none" if how.cpu_quota_cores is None else "cgroup-v2",
        "time_dilation": how.emulation.time_dilation if how.emulation else None,
        "cores_per_vcpu": how.emulation.cores_per_vcpu if how.emulation else None,
        "cpu_quota_cores": dict.fromkeys(cluster.hosts(), how.cpu_quota_cores),
        "device_step_time_s": how.emulation.device_step_time_s if how.emulation else None,
        "num_cores": 2,
    }


def _samples(how: ExampleRun, ended_s: float) -> list[SystemSample]:
    """Return samples at 2 Hz over the run; those of the start-up have no quota yet."""
    samples = []
    cores = 2.0 if how.cpu_quota_cores is None else how.cpu_quota_cores
    for number in range(1, int((ended_s - STARTED_S) / 0.5) + 1):
        time_s = STARTED_S + 0.5 * number
        used_s = 0.5 * cores * how.cpu_used_fraction
        samples.append(
            system_sample(
                time_s=time_s,
                cpu_used_s=used_s,
                cpu_asked_s=used_s / how.cpu_delivered_fraction,
                cpu_quota_cores=(
                    how.cpu_quota_cores if time_s > STARTED_S + how.startup_s else None
                ),
            )
        )
    return samples
