"""From a plan to what its views show."""

from __future__ import annotations

from typing import TYPE_CHECKING

from smtc_lab.metrics.cost import usd_per_1000_steps
from smtc_lab.planner.explanation import GIVE_DEVICE_TIMES
from smtc_lab.planner.offers import computes_on_cpu
from smtc_lab.planner.plan_settings import is_wanted
from smtc_lab.views.code.cells import job_code
from smtc_lab.views.plan.info import MeasuredInfo, PlanInfo, PointInfo
from smtc_lab.views.plan.words import STAGE_WORDS
from smtc_lab.views.text import format as fmt

if TYPE_CHECKING:
    from collections.abc import Sequence

    from smtc_lab.planner.model.prediction import Candidate
    from smtc_lab.planner.plan import Plan
    from smtc_lab.planner.run_prediction import RunPrediction
    from smtc_lab.spec.cluster import Cluster

_ONE_TIME = (
    "One device time is taken for accelerators of all {} kinds, as if each were as fast: give "
    "each its own, --device-time V100=SECONDS,T4=SECONDS, or device_s of smtc_lab.plan()."
)

MOST_POINTS = 80
"""Clusters that a view draws at most; those of the front are always among them."""


def describe_plan(plan: Plan, runs: Sequence[RunPrediction] = ()) -> PlanInfo:
    """Return what is shown of a plan.

    Args:
        plan: The plan.
        runs: Runs beside their predictions; those without a step are left out.
    """
    shown = _shown(plan)
    return PlanInfo(
        entry_point=fmt.plain(plan.calibration.entry_point),
        steps=plan.settings.steps,
        sentence=_sentence(plan),
        limits=_limits(plan),
        budget_usd_per_hour=plan.settings.budget_usd_per_hour,
        budget_usd=plan.settings.budget_usd,
        deadline_s=plan.settings.deadline_s,
        basis=_basis(plan),
        points=tuple(_point(plan, candidate) for candidate in shown),
        num_candidates=plan.num_fitting,
        measured=tuple(filter(None, map(_measured, runs))),
        notes=_notes(plan),
    )


def explained(plan: Plan, candidate: Candidate) -> tuple[str, str]:
    """Return what limits a cluster and what to try, and the code that launches it."""
    planned = plan.planned(candidate)
    return planned.explain(), job_code(planned.job())


def shown_candidates(plan: Plan) -> tuple[Candidate, ...]:
    """Return the candidates that a view draws, in its order."""
    return tuple(_shown(plan))


def cluster_label(cluster: Cluster) -> str:
    """Return a cluster's instances: ``1 x ml.p3.2xlarge + 2 x ml.c5.9xlarge``."""
    return " + ".join(
        f"{group.instance_count} {fmt.TIMES} {group.instance_type}"
        for group in cluster.instance_groups
    )


def _shown(plan: Plan) -> list[Candidate]:
    """Return the front, and those that are nearest to it in cost, by rising time."""
    front = set(plan.front)
    others = [place for place in range(len(plan.candidates)) if place not in front]
    others.sort(key=lambda place: _usd(plan.candidates[place]))
    kept = front | set(others[: max(0, MOST_POINTS - len(front))])
    return [plan.candidates[place] for place in sorted(kept)]


def _usd(candidate: Candidate) -> float:
    usd = candidate.prediction.usd_per_1000_steps
    return float("inf") if usd is None else usd.mean


def _point(plan: Plan, candidate: Candidate) -> PointInfo:
    said = candidate.prediction
    names = _names(plan, candidate)
    explanation, code = explained(plan, candidate) if names else ("", "")
    kind = " ".join(filter(None, (candidate.price_kind, candidate.price_date)))
    return PointInfo(
        label=cluster_label(candidate.cluster),
        is_heterogeneous=candidate.is_heterogeneous,
        names=names,
        is_pareto=any(candidate is one for one in plan.pareto),
        evidence=said.evidence,
        step_time_s=said.step_time_s,
        usd_per_hour=said.usd_per_hour,
        usd_per_1000_steps=said.usd_per_1000_steps,
        job_s=said.job_s,
        usd_per_job=said.usd_per_job,
        bottleneck=said.bottleneck,
        is_near_tie=said.is_near_tie,
        stages_s=dict(said.stages_s),
        utilization=dict(said.utilization),
        price=kind,
        is_price_old=candidate.is_price_old,
        notes=(*said.unknown, *said.cautions),
        explanation=explanation,
        code=code,
    )


def _names(plan: Plan, candidate: Candidate) -> tuple[str, ...]:
    named = {
        "best": plan.best.candidate,
        "cheapest": plan.cheapest,
        "fastest": plan.fastest,
        "knee": plan.knee,
    }
    return tuple(name for name, one in named.items() if one is candidate)


def _measured(run: RunPrediction) -> MeasuredInfo | None:
    if run.step_time_s is None or run.error_fraction is None:
        return None
    return MeasuredInfo(
        label=cluster_label(run.cluster),
        job_name=run.job_name,
        is_heterogeneous=run.cluster.is_heterogeneous,
        has_ended=run.has_ended,
        evidence=run.evidence,
        step_time_s=run.step_time_s,
        predicted_s=run.prediction.step_time_s,
        error_fraction=run.error_fraction,
        usd_per_1000_steps=usd_per_1000_steps(
            step_time_s=run.step_time_s, usd_per_hour=run.usd_per_hour
        ),
    )


def _sentence(plan: Plan) -> str:
    best = plan.best.candidate
    said = best.prediction
    cost = said.usd_per_1000_steps
    per_job = "" if said.usd_per_job is None else f", {fmt.usd(said.usd_per_job.mean)} a job"
    per_1000 = "cost unknown" if cost is None else f"{fmt.usd(cost.mean)} per 1,000 steps"
    mark = "" if said.evidence == "predicted" else f" ({said.evidence})"
    no_accelerators = ""
    if computes_on_cpu(plan.calibration) and not plan.settings.device_s:
        no_accelerators = (
            " CPU instances only: what a step takes on an accelerator is unknown; "
            f"{GIVE_DEVICE_TIMES}."
        )
    return (
        f"{cluster_label(best.cluster)}: {fmt.seconds(said.step_time_s.mean)} a step{mark}, "
        f"{per_1000}{per_job}; limited by {STAGE_WORDS[said.bottleneck]}."
        f"{no_accelerators}"
    )


def _limits(plan: Plan) -> str:
    asked = plan.settings
    is_strong = asked.mode == "strong"
    of_one = " of one device" if asked.num_devices is None and not is_strong else ""
    words = [
        None if asked.steps is None else f"{asked.steps:,} steps{of_one}",
        "devices share the samples of a step" if is_strong else None,
        None
        if asked.budget_usd_per_hour is None
        else f"at most {fmt.usd_per_hour(asked.budget_usd_per_hour)}",
        None if asked.budget_usd is None else f"at most {fmt.usd(asked.budget_usd)} a job",
        None if asked.deadline_s is None else f"at most {fmt.seconds(asked.deadline_s)} a job",
        None if asked.ends_before is None else f"ends before {asked.ends_before}",
        None if asked.families is None else f"families {', '.join(asked.families)}",
    ]
    return ", ".join(filter(None, words))


def _basis(plan: Plan) -> str:
    calibration = plan.calibration
    machine = calibration.machine
    cpu, cores = machine.get("cpu"), machine.get("cores")
    speed = calibration.cpu_speed
    emulated = _declared(plan)
    return (
        f"Calibrated {calibration.created[:10]} on {fmt.cores(cores)} of "
        f"{fmt.plain(str(cpu), 60)}; one is {fmt.times(speed.value)} ({speed.kind}) as fast as "
        f"a vCPU of ml.p3.2xlarge.{emulated}"
    )


def _declared(plan: Plan) -> str:
    """Return which device times are declared, and of which accelerators; empty: none is."""
    device_s = plan.calibration.emulated_device_s
    kinds = {
        each.accelerator
        for each in plan.best.outlook.catalog.instance_types.values()
        if each.has_accelerator and is_wanted(each.family, plan.settings.families)
    }
    given = plan.settings.device_s if plan.settings.only_device_s else {}
    is_one = len(set(given.values())) == 1 and kinds <= set(given)
    told = (
        ""
        if device_s is None
        else f" The device is emulated: declared {fmt.seconds(device_s)} a step."
    )
    if given and not is_one:
        each = ", ".join(f"{name} {fmt.seconds(time_s)}" for name, time_s in given.items())
        return f"{told} Declared for each accelerator: {each} a step."
    if len(kinds) > 1 and (is_one or (device_s is not None and not given)):
        return f"{told} {_ONE_TIME.format(len(kinds))}"
    return told


def _notes(plan: Plan) -> tuple[str, ...]:
    refused = [f"{number:,} left out: {reason}." for reason, number in plan.refused.items()]
    return (*refused, *plan.calibration.problems)
