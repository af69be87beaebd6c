"""What rules look at: one run, and what a comparison knows beyond it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from smtc_lab.catalog.catalog import Catalog
from smtc_lab.catalog.roles import roles
from smtc_lab.errors import CatalogError
from smtc_lab.metrics.measured_launch import measured_launch
from smtc_lab.metrics.utilization import (
    cpu_utilization,
    data_wait_fraction,
    device_utilization,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from smtc_lab.metrics.ablation import FactorEffect
    from smtc_lab.metrics.comparison import ClusterResult
    from smtc_lab.metrics.compiler_report import CompilerReport
    from smtc_lab.metrics.compiler_result import CompilerResult
    from smtc_lab.metrics.measured_launch import MeasuredLaunch
    from smtc_lab.metrics.records import RunRecords
    from smtc_lab.spec.compiler import TrainingCompilerConfig


@dataclass(frozen=True, kw_only=True, slots=True)
class Observation:
    """One run as rules see it. What is not known is None or empty."""

    config: TrainingCompilerConfig | None
    """What was asked of the compiler; None: nothing."""

    report: CompilerReport | None
    """What the first trainer told of its compiler."""

    num_steps: int
    """Steps of the run, warm-up included."""

    total_s: float
    """Time of all its steps in seconds."""

    step_time_s: float | None
    """Mean steady step time in seconds."""

    data_wait_fraction: float | None
    """Share of the steady step time in which the trainers waited for a batch."""

    device_utilization: float | None = None
    """Share of the steady step time in which the devices computed; None: not known."""

    cpu_utilization: float | None = None
    """CPU time over CPU time at hand, of the instances that prepare data: those of the data
    groups, or else the trainers. None: not known."""

    is_emulated: bool = False
    """Whether its times are those of a scale model."""

    is_synchronized: bool = False
    """Whether each measured step ended with the device synchronized."""

    num_samples: tuple[int, ...] = ()
    """Samples of each step of the first trainer, in order."""

    compiler: CompilerResult | None = None
    """What a comparison knows of the set-up, break-even among it."""

    factors: tuple[FactorEffect, ...] = ()
    """Effects of single settings that a comparison measured."""


def observe(
    run: RunRecords,
    *,
    result: ClusterResult | None = None,
    factors: Sequence[FactorEffect] = (),
) -> Observation:
    """Return what rules look at.

    Args:
        run: One run.
        result: The set-up that it is a launch of; None: there is no comparison.
        factors: Effects that the comparison measured.
    """
    launch = measured_launch(run)
    first_rank = next(iter(run.steps.values()), [])
    config = run.job.compiler_config
    return Observation(
        config=config if config is not None and config.enabled else None,
        report=next(iter(run.compiler.values()), None),
        num_steps=len(first_rank),
        total_s=sum(step.step_time_s for step in first_rank),
        step_time_s=None if launch is None else float(launch.step_time_s.mean()),
        data_wait_fraction=None if launch is None else data_wait_fraction(launch.steps),
        device_utilization=None if launch is None else device_utilization(launch.steps),
        cpu_utilization=None if launch is None else _preparing_cpu(launch),
        is_emulated=run.job.emulation is not None,
        is_synchronized=launch is not None
        and all(
            step.synchronized
            for steps in run.steps.values()
            for step in steps[launch.warm_up_steps :]
        ),
        num_samples=tuple(
            step.num_samples for step in first_rank if step.num_samples is not None
        ),
        compiler=None if result is None else result.compiler,
        factors=tuple(factors),
    )


def _preparing_cpu(launch: MeasuredLaunch) -> float | None:
    """Return the CPU utilization of the busiest group that prepares data."""
    try:
        role_of = roles(launch.run.job.cluster, Catalog.load())
    except CatalogError:  # a type of another catalog: who prepares is not known
        return None
    preparing = [name for name, role in role_of.items() if role == "data"] or list(role_of)
    cores = launch.run.facts.get("num_cores")
    num_cores = float(cores) if isinstance(cores, int | float) else None
    known = [
        used
        for name in preparing
        if (used := cpu_utilization(launch.group_samples(name), num_cores=num_cores))
        is not None
    ]
    return max(known, default=None)
