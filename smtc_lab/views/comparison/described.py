"""Describes a comparison that is in memory, as a followed one is described."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING

from smtc_lab.machine.environments.named import other_environment
from smtc_lab.metrics.result import evidence_of
from smtc_lab.views.code.cells import compare_code
from smtc_lab.views.study.info import (
    ComparisonInfo,
    LaunchInfo,
    SetUpInfo,
)
from smtc_lab.views.study.money import launch_cost_of, steps_cost_of
from smtc_lab.views.text.findings import beside_verdict, told
from smtc_lab.views.text.table import comparison_rows
from smtc_lab.views.text.words import price_line, scale_line, tells_cost

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from smtc_lab.metrics.compared.comparison import ClusterResult, Comparison
    from smtc_lab.metrics.records.records import RunRecords


def described(comparison: Comparison, runs: Sequence[RunRecords]) -> ComparisonInfo:
    """Return what a view is told of a comparison.

    Args:
        comparison: The numbers.
        runs: The records of its launches, in the order in which they ran; may be none.
    """
    names = [cluster.name for cluster in comparison.clusters]
    warm_up = {
        name: steps
        for cluster in comparison.clusters
        for name, steps in zip(cluster.runs, cluster.warm_up_steps, strict=False)
    }
    begins = [run.started_s for run in runs if run.started_s is not None]
    ends = [run.ended_s for run in runs if run.ended_s is not None]
    return ComparisonInfo(
        name=f"{PurePath(comparison.entry_point).stem}, {comparison.created[:16]}",
        entry_point=comparison.entry_point,
        state="Completed",
        ended=True,
        reason="",
        elapsed_s=max(0.0, max(ends) - min(begins)) if begins and ends else 0.0,
        launches=len(runs) or sum(cluster.launches for cluster in comparison.clusters),
        rounds=max((cluster.launches for cluster in comparison.clusters), default=0),
        evidence=comparison.evidence,
        scale=scale_line(comparison),
        sentence=comparison.verdict,
        is_verdict=True,
        set_ups=tuple(_set_up(cluster, comparison, runs) for cluster in comparison.clusters),
        launched=tuple(_launch(place, runs, names, warm_up) for place in range(len(runs))),
        rows=tuple(comparison_rows(comparison)),
        notes=(price_line(comparison),) if tells_cost(comparison) else (),
        findings=told(beside_verdict(comparison)),
        code=_code(comparison, runs, names),
        steps_cost=tuple(
            part
            for place, cluster in enumerate(comparison.clusters)
            for part in steps_cost_of(place, cluster)
        ),
        launch_cost=tuple(
            part
            for place, cluster in enumerate(comparison.clusters)
            for part in launch_cost_of(place, cluster)
        ),
    )


def _launch(
    place: int,
    runs: Sequence[RunRecords],
    names: Sequence[str],
    warm_up_steps: Mapping[str, int],
) -> LaunchInfo:
    run = runs[place]
    steps = max(map(len, run.steps.values()), default=0)
    return LaunchInfo(
        job_name=str(run.job.job_name),
        label=run.label,
        set_up=names.index(run.label) if run.label in names else None,
        round=1 + sum(other.label == run.label for other in runs[:place]),
        state=run.state,
        steps=steps,
        max_steps=run.job.max_steps,
        warm_up_steps=warm_up_steps.get(str(run.job.job_name), 0),
    )


def _set_up(
    cluster: ClusterResult, comparison: Comparison, runs: Sequence[RunRecords]
) -> SetUpInfo:
    job = next((run.job for run in runs if run.label == cluster.name), None)
    hosts = {} if job is None else job.cluster.hosts()
    return SetUpInfo(
        label=cluster.name,
        hosts=tuple((host, group.instance_group_name) for host, group in hosts.items()),
        usd_per_hour=cluster.usd_per_hour,
        evidence=comparison.evidence if job is None else evidence_of(job),
        python_environment=_environment(cluster, runs),
        step_time_s=cluster.step_time_s.mean,
        step_time_interval_s=cluster.step_time_s,
    )


def _environment(cluster: ClusterResult, runs: Sequence[RunRecords]) -> str:
    run = next((run for run in runs if run.label == cluster.name), None)
    if run is None:
        return ""
    recorded = run.environment
    return other_environment(run.job.python_environment if recorded is None else recorded.name)


def _code(comparison: Comparison, runs: Sequence[RunRecords], names: Sequence[str]) -> str:
    jobs = {run.label: run.job.model_copy(update={"job_name": None}) for run in runs}
    if not set(names) <= set(jobs):
        return ""
    rounds = max(cluster.launches for cluster in comparison.clusters)
    return compare_code([jobs[name] for name in names], rounds)
