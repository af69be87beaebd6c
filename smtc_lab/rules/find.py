"""Runs every rule over one run, growing or ended."""

from __future__ import annotations

from typing import TYPE_CHECKING

from smtc_lab.metrics.measured_launch import measured_launch
from smtc_lab.metrics.pipeline.timed import pipeline_times
from smtc_lab.metrics.records.cluster_time import dilation_of_job
from smtc_lab.metrics.records.facts import as_asked
from smtc_lab.metrics.result import evidence_of
from smtc_lab.rules.all_steps import AllStepsRule
from smtc_lab.rules.communication import CommunicationRule
from smtc_lab.rules.cpu_bottleneck import CpuBottleneckRule
from smtc_lab.rules.graphs import GraphRule
from smtc_lab.rules.host import HostRule
from smtc_lab.rules.observation import Observation
from smtc_lab.rules.own_speed import OwnSpeedRule
from smtc_lab.rules.pipeline import PipelineRule
from smtc_lab.rules.shapes import ShapeRule
from smtc_lab.rules.step import StepRule

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from smtc_lab.metrics.compared.ablation import FactorEffect
    from smtc_lab.metrics.compared.compiler_result import CompilerResult
    from smtc_lab.metrics.finding import Finding
    from smtc_lab.metrics.measured_columns import MeasuredColumns
    from smtc_lab.metrics.pipeline.times import PipelineTimes
    from smtc_lab.metrics.records.compiler_report import CompilerReport
    from smtc_lab.metrics.records.records import RunRecords
    from smtc_lab.rules.rule import Rule
    from smtc_lab.spec.job import TrainingJob

RULES: tuple[type[Rule], ...] = (
    GraphRule,
    ShapeRule,
    HostRule,
    StepRule,
    CpuBottleneckRule,
    CommunicationRule,
    PipelineRule,
    OwnSpeedRule,
    AllStepsRule,
)
"""Every rule."""


class RunRules:
    """Every rule over one run.

    Args:
        job: What is run.
        compiler: What a comparison knows of its set-up; None: there is none.
        factors: Effects that the comparison measured.
    """

    def __init__(
        self,
        job: TrainingJob,
        *,
        compiler: CompilerResult | None = None,
        factors: Sequence[FactorEffect] = (),
    ) -> None:
        self._job = job
        self._compiler = compiler
        self._factors = tuple(factors)
        self._rules = [rule() for rule in RULES]
        self._num_steps = 0
        self._told: frozenset[str] = frozenset()

    def look(  # noqa: PLR0913  what is known of the run, by name
        self,
        measured: MeasuredColumns | None,
        reports: Mapping[str, CompilerReport],
        *,
        ranks: Sequence[str] = (),
        pipeline: PipelineTimes | None = None,
        usd_per_hour: float | None = None,
        has_ended: bool,
        has_completed: bool = False,
    ) -> tuple[Finding, ...]:
        """Take in the steps that came since the last look, and return what could be better.

        Warnings come first, the costliest first among equals; findings whose cost is not known
        stand behind those whose cost is.

        Args:
            measured: The run so far; None: it has no step, so there is nothing to find.
            reports: What its trainers told of their compiler, by rank, the first one first.
            ranks: Names of its trainers, in the order of the columns' places; empty: unknown.
            pipeline: Stages of a model that is cut; None: it is not, or not yet.
            usd_per_hour: Price of all instances; None: unknown.
            has_ended: Whether this is all of it.
            has_completed: Whether it ended as ``Completed``.
        """
        if measured is None:
            return ()
        news = measured.recorded[:, self._num_steps :]
        self._num_steps += news.shape[1]
        for rule in self._rules:
            rule.take(news)
        seen = Observation(
            job=self._job,
            measured=measured,
            report=next(iter(reports.values()), None),
            usd_per_hour=usd_per_hour,
            has_ended=has_ended,
            has_completed=has_completed,
            told=self._told,
            ranks=tuple(ranks),
            pipeline=pipeline,
            compiler=self._compiler,
            factors=self._factors,
        )
        findings = [finding for rule in self._rules for finding in rule.findings(seen)]
        self._told = frozenset(finding.kind for finding in findings)
        if len(reports) > 1:
            first = {"rank": next(iter(reports))}
            findings = [
                each.model_copy(update=first) if each.place else each for each in findings
            ]
        if "cpu_bottleneck" in self._told:  # why the trainer waits
            findings = [each for each in findings if each.kind != "data_wait"]
        return tuple(sorted(findings, key=_rank))


def find(
    run: RunRecords,
    *,
    compiler: CompilerResult | None = None,
    factors: Sequence[FactorEffect] = (),
    usd_per_hour: float | None = None,
) -> tuple[Finding, ...]:
    """Return what could be better in a run that has ended, as ``RunRules.look`` does.

    Args:
        run: The run.
        compiler: What a comparison knows of its set-up; None: there is none.
        factors: Effects that the comparison measured.
        usd_per_hour: Price of all its instances; None: unknown.
    """
    rules = RunRules(as_asked(run.job, run.facts), compiler=compiler, factors=factors)
    return rules.look(
        measured_launch(run),
        run.compiler,
        ranks=[name for name, records in run.steps.items() if records],
        pipeline=pipeline_times(
            run.pipeline,
            evidence=evidence_of(run.job),
            dilation=dilation_of_job(run.job),
        ),
        usd_per_hour=usd_per_hour,
        has_ended=True,
        has_completed=run.state == "Completed",
    )


def _rank(finding: Finding) -> tuple[bool, float]:
    fraction = None if finding.cost is None else finding.cost.fraction
    return finding.severity != "warning", -(fraction or 0.0)
