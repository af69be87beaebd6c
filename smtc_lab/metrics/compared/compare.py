"""Compares clusters by the records of their runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from smtc_lab.metrics.cautions.unlike_prediction import MeasuredSteps, unlike_predictions
from smtc_lab.metrics.compared.ablation import differ_in_compiler_only, factor_effects
from smtc_lab.metrics.compared.break_even import break_even
from smtc_lab.metrics.compared.cautions import (
    at_own_speed,
    cautions,
    declared_devices_s,
    delivered_differences,
    did_equal_work,
    trained_apart,
)
from smtc_lab.metrics.compared.cluster_result import cluster_result
from smtc_lab.metrics.compared.comparison import ClusterResult, Comparison
from smtc_lab.metrics.compared.compiler_result import compiler_result
from smtc_lab.metrics.compared.environments import environment_results, package_differences
from smtc_lab.metrics.compared.launch_intervals import launch_intervals, saving_per_job
from smtc_lab.metrics.compared.measured_cluster import (
    MeasuredCluster,
    measured_clusters,
    speedup_of,
)
from smtc_lab.metrics.compared.pair_result import PairResult
from smtc_lab.metrics.compared.prepared import idle_data_groups, prepared_clauses
from smtc_lab.metrics.compared.result_cautions import (
    emulated_devices,
    pair_cautions,
    passes_of_vcpus,
    times_the_samples,
)
from smtc_lab.metrics.compared.verdict import (
    compiler_clause,
    emulation_clause,
    pair_clause,
    single_clause,
    verdict,
)
from smtc_lab.metrics.cost import saving_fraction, saving_interval
from smtc_lab.metrics.records.facts import number_fact
from smtc_lab.metrics.result import evidence_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from smtc_lab.catalog.catalog import Catalog
    from smtc_lab.metrics.cautions.unlike_prediction import PredictedSteps
    from smtc_lab.metrics.finding import Finding
    from smtc_lab.metrics.parity import ParityResult
    from smtc_lab.metrics.records.records import RunRecords

_FACTS_OF_SCALE = ("time_dilation", "cpu_speed", "cpu_rate", "cpu_benchmark_version")


def compare_runs(  # noqa: PLR0913  all that a comparison is made of
    runs: Sequence[RunRecords],
    *,
    catalog: Catalog,
    created: str,
    machine: dict[str, object],
    looks: int = 1,
    parity: Mapping[str, ParityResult] | None = None,
    predicted: Mapping[str, PredictedSteps] | None = None,
) -> Comparison:
    """Return the comparison of the clusters that these runs ran on.

    Each run is one launch of the cluster that its label names; the first label is the
    baseline. Launches of all clusters in order are rounds, and a ratio pairs those of one
    round. Only ``Completed`` runs count. The step time of a job is the longest of its ranks.

    Args:
        runs: At least one for each cluster.
        catalog: Instance types and prices.
        created: When the comparison is made, ISO 8601 with time zone.
        machine: The machine that it was measured on.
        looks: Moments at which the verdict is looked at before it is the final one: 1 for the
            final one itself, whose launches were planned before.
        parity: What the parity launches showed, by label; None: there were none.
        predicted: What is predicted of steps, by label; the verdict says where they are not so.

    Raises:
        ValueError: There is no run, two clusters have one label, or a cluster has no
            completed run or no measured step.
        CatalogError: An instance type is not in the catalog.
    """
    measured = measured_clusters(runs)
    results = [cluster_result(cluster, catalog=catalog) for cluster in measured]
    results = [
        result.model_copy(update={"intervals": launch_intervals(cluster, result)})
        for cluster, result in zip(measured, results, strict=True)
    ]
    if any(cluster.compiler_config is not None for cluster in measured):
        results = _with_compilers(measured, results, parity or {})
    results = _with_environments(measured, results, parity or {})
    compared = [launch.run for cluster in measured for launch in cluster.launches]
    emulation = _emulation(compared)
    clauses, pairs, remarks = [], [], []
    for place, cluster in enumerate(measured[1:], start=1):
        clause, results[place], pair = _pair(
            (measured[0], results[0]),
            (cluster, results[place]),
            candidates=len(measured) - 1,
            looks=looks,
        )
        clauses.append(clause)
        pairs.append(pair)
        remarks += pair_cautions(results[0], results[place], pair)
    if not pairs:
        clauses = [single_clause(results[0].name, results[0].step_time_s)]
    remarks += at_own_speed(measured)
    remarks += unlike_predictions(_seen(measured, results), predicted or {})
    first = [*trained_apart(measured), *idle_data_groups(measured, results)]
    devices = _about_devices(compared, results, catalog)
    return Comparison(
        created=created,
        entry_point=measured[0].launches[0].run.job.entry_point,
        evidence=evidence_of(*(run.job for run in compared)),
        emulation=emulation,
        declared_link=_declared_link(compared),
        clusters=tuple(results),
        pairs=tuple(pairs),
        speedup=pairs[0].speedup if pairs else None,
        saving_fraction=pairs[0].saving_fraction if pairs else None,
        verdict=verdict(
            [*clauses, *prepared_clauses(results)],
            emulation=emulation_clause(emulation),
            first=first,
            remarks=[*remarks, *delivered_differences(results)],
        ),
        package_differences=package_differences(measured),
        factors=factor_effects(measured),
        findings=(*first, *remarks, *devices, *cautions(measured, results)),
        machine=machine,
    )


def _seen(
    measured: Sequence[MeasuredCluster], results: Sequence[ClusterResult]
) -> list[MeasuredSteps]:
    return [
        MeasuredSteps(
            name=result.name,
            job=cluster.launches[0].run.job,
            launches=cluster.launches,
            step_time_s=result.step_time_s,
            cpu_delivered_fraction=result.cpu_delivered_fraction,
            is_settled=cluster.is_settled,
        )
        for cluster, result in zip(measured, results, strict=True)
    ]


def _with_compilers(
    measured: Sequence[MeasuredCluster],
    results: Sequence[ClusterResult],
    parity: Mapping[str, ParityResult],
) -> list[ClusterResult]:
    """Return the results with what is known of each one's compiler, the plain ones too."""
    return [
        result.model_copy(
            update={
                "compiler": compiler_result(
                    cluster,
                    step_time_s=result.step_time_s,
                    parity=parity.get(cluster.label),
                )
            }
        )
        for cluster, result in zip(measured, results, strict=True)
    ]


def _with_environments(
    measured: Sequence[MeasuredCluster],
    results: Sequence[ClusterResult],
    parity: Mapping[str, ParityResult],
) -> list[ClusterResult]:
    """Return the results with their Python environments, where these are not all the same."""
    made = []
    for result, found in zip(results, environment_results(measured), strict=True):
        environment = found
        if found is not None and result.compiler is None:
            environment = found.model_copy(update={"parity": parity.get(result.name)})
        made.append(result.model_copy(update={"environment": environment}))
    return made


def _pair(
    baseline: tuple[MeasuredCluster, ClusterResult],
    candidate: tuple[MeasuredCluster, ClusterResult],
    *,
    candidates: int,
    looks: int,
) -> tuple[str, ClusterResult, PairResult]:
    """Return what is seen of two clusters in words, the candidate's result, and the pair's."""
    (first, first_result), (second, second_result) = baseline, candidate
    runs = [launch.run for launch in (*first.launches, *second.launches)]
    evidence = evidence_of(*(run.job for run in runs))
    speedup = speedup_of(first, second, candidates=candidates, looks=looks)
    saving = saving_interval(
        speedup=speedup,
        baseline_usd_per_hour=first_result.usd_per_hour,
        candidate_usd_per_hour=second_result.usd_per_hour,
    )
    is_apart = first.trains_apart or second.trains_apart
    times = None if is_apart else times_the_samples(first_result, second_result)
    of_jobs = None
    if times is None and did_equal_work(first, second):
        of_jobs = saving_fraction(
            baseline_usd=first_result.usd_per_job, candidate_usd=second_result.usd_per_job
        )
    pair = PairResult(
        baseline=first.label,
        candidate=second.label,
        speedup=speedup,
        saving_fraction=saving,
        saving_per_job_fraction=of_jobs,
        saving_per_job=(
            None
            if of_jobs is None
            else saving_per_job(baseline, candidate, candidates=candidates, looks=looks)
        ),
        times_the_samples=times,
        trains_apart=is_apart,
        evidence=evidence,
        verdict="",
    )
    clause = pair_clause(pair, unpriced=_unpriced(first_result, second_result))
    if second_result.compiler is not None:
        earned = break_even(baseline=first, candidate=second, speedup=speedup)
        compiler = second_result.compiler.model_copy(update={"break_even": earned})
        second_result = second_result.model_copy(update={"compiler": compiler})
        if differ_in_compiler_only(first, second):
            names = (first.label, second.label)
            clause = compiler_clause(*names, speedup=speedup, break_even=earned)
    both, results = (first, second), (first_result, second_result)
    words = verdict(
        [clause, *prepared_clauses(results)],
        emulation=emulation_clause(_emulation(runs)),
        first=[*trained_apart(both), *idle_data_groups(both, results)],
        remarks=[*pair_cautions(*results, pair), *delivered_differences(results)],
    )
    return clause, second_result, pair.model_copy(update={"verdict": words})


def _unpriced(*results: ClusterResult) -> list[str]:
    return list(
        dict.fromkeys(
            group.instance_type
            for result in results
            for group in result.instance_groups
            if group.usd_per_hour is None
        )
    )


def _declared_link(runs: Sequence[RunRecords]) -> str | None:
    """Return the network that the first emulated run declares; None: none does."""
    links = (run.job.emulation.link for run in runs if run.job.emulation is not None)
    link = next(links, None)
    return None if link is None else str(link)


def _about_devices(
    runs: Sequence[RunRecords], results: Sequence[ClusterResult], catalog: Catalog
) -> list[Finding]:
    """Return what must be known of the devices of emulated runs."""
    slowed = [run for run in runs if number_fact(run, "cores_per_vcpu") is not None]
    return [
        *passes_of_vcpus(results, declared_devices_s(slowed), catalog=catalog),
        *emulated_devices(results, declared_devices_s(runs), catalog=catalog),
    ]


def _emulation(runs: Sequence[RunRecords]) -> dict[str, float | None] | None:
    """Return how the first emulated run was emulated, or None: the hardware was there."""
    for run in runs:
        if run.job.emulation is not None and evidence_of(run.job) == "emulated":
            known = {name: number_fact(run, name) for name in _FACTS_OF_SCALE}
            devices_s = sorted(filter(None, declared_devices_s(runs)))
            if len(devices_s) > 1:
                known["most_device_step_time_s"] = devices_s[-1]
            return {
                "cores_per_vcpu": number_fact(run, "cores_per_vcpu"),
                "device_step_time_s": devices_s[0] if devices_s else None,
                **{name: value for name, value in known.items() if value is not None},
            }
    return None
