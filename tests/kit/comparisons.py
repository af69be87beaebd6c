"""Builders of realistic comparisons, with the records of the runs that they were made from."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from smtc_lab.metrics.bill import mean_bill
from smtc_lab.metrics.columns import STEP, steps_of
from smtc_lab.metrics.compared.comparison import (
    ClusterResult,
    Comparison,
    GroupResult,
    Utilization,
)
from smtc_lab.metrics.compared.pair_result import PairResult
from smtc_lab.metrics.measured_launch import measured_launch
from smtc_lab.metrics.result import Interval
from smtc_lab.spec.emulation import Emulation
from tests.kit.comparison_runs import (
    BATCH_SIZE,
    HETEROGENEOUS,
    HOMOGENEOUS,
    STARTUP_S,
    example_runs,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from smtc_lab.metrics.records.records import RunRecords
    from tests.kit.comparison_runs import ExampleCluster, ExampleGroup

_DILATION = 32.0
_CREATED = "2026-11-03T10:15:00+00:00"


def example_comparison(
    clusters: Sequence[ExampleCluster] = (HOMOGENEOUS, HETEROGENEOUS),
    *,
    emulated: bool = True,
    cores_per_vcpu: float = 0.031,
    device_step_time_s: float = 0.04,
    seed: int = 0,
) -> tuple[Comparison, list[RunRecords]]:
    """Return a comparison and the records of its runs, the same for the same arguments.

    Args:
        clusters: What was compared, the baseline first.
        emulated: Whether the hardware was stood in for.
        cores_per_vcpu: Cores of the machine that stood for one vCPU.
        device_step_time_s: Time that the device computes in each step, in seconds.
        seed: Seed of the drawn step times.
    """
    rng = np.random.default_rng(seed)
    emulation = (
        Emulation(
            time_dilation=_DILATION,
            cores_per_vcpu=cores_per_vcpu,
            device_step_time_s=device_step_time_s,
        )
        if emulated
        else None
    )
    runs_of = [
        example_runs(example, place, emulation, device_step_time_s, rng)
        for place, example in enumerate(clusters, start=1)
    ]
    results = tuple(
        _cluster_result(example, runs, cores_per_vcpu if emulated else None)
        for example, runs in zip(clusters, runs_of, strict=True)
    )
    pairs = tuple(_pair_result(results[0], other, emulated=emulated) for other in results[1:])
    comparison = Comparison(
        created=_CREATED,
        entry_point="train_images.py",
        evidence="emulated" if emulated else "measured",
        emulation=(
            {
                "time_dilation": _DILATION,
                "cores_per_vcpu": cores_per_vcpu,
                "device_step_time_s": device_step_time_s,
            }
            if emulated
            else None
        ),
        clusters=results,
        pairs=pairs,
        speedup=pairs[0].speedup if pairs else None,
        saving_fraction=pairs[0].saving_fraction if pairs else None,
        verdict=" ".join(pair.verdict for pair in pairs) or "Only one cluster was measured.",
        machine={
            "cpu": "AMD EPYC 7R13",
            "cores": 2.0,
            "memory_gib": 7.8,
            "gpus": [],
            "system": "Linux 6.1.0",
            "python": "3.11.2",
            "versions": {"smtc-lab": "0.1.0", "torch": "2.9.0", "numpy": "2.4.6"},
        },
    )
    return comparison, [run for runs in runs_of for run in runs]


def _cluster_result(
    example: ExampleCluster, runs: list[RunRecords], cores_per_vcpu: float | None
) -> ClusterResult:
    warm_up = min(8, example.steps // 3)
    measured = np.concatenate([steps_of(run)[STEP["step_time_s"], warm_up:] for run in runs])
    step_time_s = _interval_of(measured)
    prices = [group.usd_per_hour for group in example.groups]
    known = [price for price in prices if price is not None]
    usd_per_hour = sum(known) if len(known) == len(prices) else None
    usd_per_step = step_time_s.scaled(usd_per_hour / 3600) if usd_per_hour else None
    job_s = np.mean(
        [run.ended_s - run.started_s for run in runs if run.ended_s and run.started_s]
    )
    device_s = steps_of(runs[0])[STEP["device_time_s"], warm_up:]
    return ClusterResult(
        name=runs[0].label,
        instance_groups=tuple(
            _group_result(group, example, cores_per_vcpu) for group in example.groups
        ),
        usd_per_hour=usd_per_hour,
        launches=len(runs),
        steps=measured.size,
        warm_up_steps=(warm_up,) * len(runs),
        step_time_s=step_time_s,
        usd_per_1000_steps=usd_per_step.scaled(1000) if usd_per_step else None,
        usd_per_step=usd_per_step,
        usd_per_job=(
            float(job_s) * usd_per_hour / 3600
            if usd_per_hour and cores_per_vcpu is None
            else None
        ),
        startup_s=STARTUP_S,
        samples_per_s=_inverse(step_time_s, BATCH_SIZE),
        data_wait_fraction=max(0.0, 1 - (device_s[0] + 0.01) / step_time_s.mean),
        utilization=Utilization(
            device=float(np.mean(device_s)) / step_time_s.mean,
            cpu={group.instance_group_name: group.cpu_fraction for group in example.groups},
        ),
        cpu_delivered_fraction=0.99 if cores_per_vcpu else None,
        cpu_quota_mechanism="cgroup-v2" if cores_per_vcpu else "none",
        runs=tuple(run.job.job_name or "" for run in runs),
        bill=mean_bill(
            [
                launch.bill(usd_per_hour=None)
                for run in runs
                if (launch := measured_launch(run))
            ],
            usd_per_hour=usd_per_hour,
        ),
    )


def _group_result(
    group: ExampleGroup, example: ExampleCluster, cores_per_vcpu: float | None
) -> GroupResult:
    has_price = group.usd_per_hour is not None
    return GroupResult(
        instance_group_name=group.instance_group_name,
        instance_type=group.instance_type,
        instance_count=1,
        role="data" if group is not example.groups[0] else "train",
        vcpus=group.vcpus,
        usd_per_hour=group.usd_per_hour,
        price_kind=group.price_kind if has_price else None,
        price_date=group.price_date if has_price else None,
        cpu_quota_cores=group.vcpus * cores_per_vcpu if cores_per_vcpu else None,
    )


def _pair_result(
    baseline: ClusterResult, other: ClusterResult, *, emulated: bool
) -> PairResult:
    speedup = _ratio(baseline.step_time_s, other.step_time_s)
    saving = None
    words = f"{other.name}: {speedup.mean:.1f}\u00d7 the speed of {baseline.name}"
    if baseline.usd_per_1000_steps and other.usd_per_1000_steps:
        cost = _ratio(other.usd_per_1000_steps, baseline.usd_per_1000_steps)
        saving = Interval(mean=1 - cost.mean, low=1 - cost.high, high=1 - cost.low)
        words += (
            f" and {100 * saving.mean:.0f} % cheaper per step, "
            f"95 % interval {100 * saving.low:.1f}\u2013{100 * saving.high:.1f} %"
        )
    per_job = None
    is_equal_work = baseline.steps == other.steps
    if is_equal_work and baseline.usd_per_job and other.usd_per_job:
        per_job = 1 - other.usd_per_job / baseline.usd_per_job
    return PairResult(
        baseline=baseline.name,
        candidate=other.name,
        speedup=speedup,
        saving_fraction=saving,
        saving_per_job_fraction=per_job,
        evidence="emulated" if emulated else "measured",
        verdict=f"{words}{'; emulated device' if emulated else ''}.",
    )


def _interval_of(values: NDArray[np.float64]) -> Interval:
    half = 1.96 * float(values.std()) / float(np.sqrt(values.size))
    mean = float(values.mean())
    return Interval(mean=mean, low=mean - half, high=mean + half)


def _inverse(interval: Interval, factor: float) -> Interval:
    return Interval(
        mean=factor / interval.mean, low=factor / interval.high, high=factor / interval.low
    )


def _ratio(numerator: Interval, denominator: Interval) -> Interval:
    """Return the ratio with an interval that adds the relative half widths in square."""
    halves = [
        (interval.high - interval.low) / 2 / interval.mean
        for interval in (numerator, denominator)
    ]
    relative = math.hypot(*halves)
    mean = numerator.mean / denominator.mean
    return Interval(mean=mean, low=mean * (1 - relative), high=mean * (1 + relative))
