"""What rules look at: one run, and what a comparison knows beyond it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from smtc_lab.metrics.measured_launch import measured_launch
from smtc_lab.metrics.utilization import data_wait_fraction

if TYPE_CHECKING:
    from collections.abc import Sequence

    from smtc_lab.metrics.ablation import FactorEffect
    from smtc_lab.metrics.comparison import ClusterResult
    from smtc_lab.metrics.compiler_report import CompilerReport
    from smtc_lab.metrics.compiler_result import CompilerResult
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
        num_samples=tuple(
            step.num_samples for step in first_rank if step.num_samples is not None
        ),
        compiler=None if result is None else result.compiler,
        factors=tuple(factors),
    )
