"""What rules see of a run at one moment, and what a comparison knows beyond it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from smtc_lab.metrics.columns import STEP
from smtc_lab.metrics.cost import usd_per_1000_steps
from smtc_lab.metrics.finding import Cost
from smtc_lab.metrics.intervals import mean_interval
from smtc_lab.metrics.result import Interval, evidence_of
from smtc_lab.metrics.utilization import data_wait_fraction

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from smtc_lab.metrics.compared.ablation import FactorEffect
    from smtc_lab.metrics.compared.compiler_result import CompilerResult
    from smtc_lab.metrics.measured_columns import MeasuredColumns
    from smtc_lab.metrics.pipeline.times import PipelineTimes
    from smtc_lab.metrics.records.compiler_report import CompilerReport
    from smtc_lab.spec.job import TrainingJob

ENOUGH_STEPS = 30
"""Measured steps from which on the shares of a growing run are worth a sentence, and of one
that did not complete."""

_FEW_STEPS = 5
"""Measured steps below which those of a run that completed are not."""

_EASE = 0.9
"""A value that has reached a threshold must fall below this share of it to be taken back."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Observation:
    """One run as rules see it now. What is not known is None or empty."""

    job: TrainingJob
    """What was run."""

    measured: MeasuredColumns
    """Its steps so far, and what its instances used."""

    report: CompilerReport | None = None
    """What the first trainer told of its compiler."""

    usd_per_hour: float | None = None
    """Price of all its instances; None: unknown."""

    has_ended: bool = True
    """Whether this is all of it."""

    has_completed: bool = False
    """Whether it ended, and as ``Completed``."""

    told: frozenset[str] = frozenset()
    """Kinds of what was found at the last look at the growing run."""

    ranks: tuple[str, ...] = ()
    """Names of its trainers, ``<host>-rank<n>``, by their places; empty: unknown."""

    pipeline: PipelineTimes | None = None
    """Stages and bubble of a model that is cut; None: it is not, or not yet."""

    compiler: CompilerResult | None = None
    """What a comparison knows of the set-up, break-even among it."""

    factors: tuple[FactorEffect, ...] = ()
    """Effects of single settings that a comparison measured."""

    @property
    def num_steps(self) -> int:
        """Steps of the job so far, warm-up included."""
        return int(self.measured.recorded.shape[1])

    @property
    def has_compiler(self) -> bool:
        """Whether the job asks for a compiler."""
        config = self.job.compiler_config
        return config is not None and config.enabled and config.backend != "eager"

    @property
    def total_s(self) -> float:
        """Time of all its steps in seconds."""
        return float(self.measured.recorded[STEP["step_time_s"]].sum())

    @property
    def step_time_s(self) -> float:
        """Mean steady step time in seconds."""
        return float(self.measured.step_time_s.mean())

    @property
    def data_wait_fraction(self) -> float | None:
        """Share of the steady step time in which the trainers waited for a batch."""
        return data_wait_fraction(self.measured.steps)

    def cost_in_run(self, time_s: Interval | float) -> Cost:
        """Return what so much of the time of all steps costs, warm-up included."""
        if isinstance(time_s, float):
            time_s = Interval(mean=time_s, low=time_s, high=time_s)
        return self.cost(time_s.scaled(1 / self.num_steps), self.total_s / self.num_steps)

    def cost_in_steps(self, time_s: NDArray[np.float64]) -> Cost:
        """Return what so much of each measured step costs, shape (S,), a mean of the ranks."""
        whole_s = float(self.measured.steps[STEP["rank_time_s"]].mean())
        mean_s = mean_interval([time_s])
        return self.cost(mean_s.scaled(self.step_time_s / whole_s), self.step_time_s)

    def cost(self, per_step: Interval, step_time_s: float) -> Cost:
        """Return what so many seconds cost of a step that takes so many."""
        if step_time_s <= 0:
            return Cost()
        evidence = evidence_of(self.job)
        per_step = per_step.of(evidence)
        return Cost(
            fraction=min(1.0, max(0.0, per_step.mean / step_time_s)),
            s_per_step=per_step,
            usd_per_1000_steps=usd_per_1000_steps(
                step_time_s=per_step, usd_per_hour=self.usd_per_hour
            ),
            evidence=evidence,
        )

    def is_enough_for(self, kind: str, *, for_s: float = 0.0) -> bool:
        """Return whether enough is measured to begin to tell of something, or to go on.

        Args:
            kind: Kind of the finding.
            for_s: Least time of the measured steps in seconds.
        """
        measured = self.measured
        num_steps = len(measured.step_time_s)
        if self.has_ended:
            return num_steps >= (_FEW_STEPS if self.has_completed else ENOUGH_STEPS)
        return kind in self.told or (
            num_steps >= ENOUGH_STEPS and measured.end_s - measured.begin_s >= for_s
        )

    def ease(self, kind: str) -> float:
        """Return the factor of a threshold of what may have been told already: 1 or below."""
        return _EASE if kind in self.told and not self.has_ended else 1.0
