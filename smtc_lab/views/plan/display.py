"""Parts of a plan in a notebook: one cluster, one prediction, one explanation."""

from __future__ import annotations

from html import escape

from smtc_lab.planner.model.prediction import STAGES, Candidate, Prediction
from smtc_lab.planner.plan import Plan
from smtc_lab.planner.planned_cluster import PlannedCluster
from smtc_lab.views.plan.bundle import bundle_of
from smtc_lab.views.plan.describer import cluster_label
from smtc_lab.views.plan.words import JOB_NOTE, STAGE_WORDS
from smtc_lab.views.text import format as fmt


def to_html(obj: object) -> str:
    """Return a plan or a part of it as HTML for a notebook.

    Raises:
        TypeError: The object is neither.
    """
    if isinstance(obj, Plan):
        html: str = bundle_of(obj)["text/html"]
        return html
    if isinstance(obj, PlannedCluster):
        return _preformatted(f"{_candidate_text(obj.candidate)}\n\n{obj.explain()}")
    if isinstance(obj, Candidate):
        return _preformatted(_candidate_text(obj))
    if isinstance(obj, Prediction):
        return _preformatted(prediction_text(obj))
    raise TypeError(
        f"An object of type {type(obj).__name__!r} is no part of a plan. Give a Plan, a "
        "PlannedCluster, a Candidate or a Prediction."
    )


def prediction_text(said: Prediction) -> str:
    """Return what is predicted, one line for each number and each stage."""
    step = fmt.seconds_interval(said.step_time_s)
    lines = [
        f"{said.evidence}: {step} a step, limited by {STAGE_WORDS[said.bottleneck]}",
        f"$/h: {fmt.price_digits(said.usd_per_hour)}",
        f"$/1,000 steps: {fmt.usd_interval(said.usd_per_1000_steps, symbol=False)}",
        f"$/job: {fmt.usd_interval(said.usd_per_job, symbol=False)}",
    ]
    lines += [
        f"{STAGE_WORDS[stage]}: {fmt.seconds(said.stages_s.get(stage))}, busy "
        f"{fmt.percent(said.utilization.get(stage))}"
        for stage in STAGES
    ]
    note = [] if said.job_s is None else [f"{JOB_NOTE[0].upper()}{JOB_NOTE[1:]}."]
    return "\n".join([*lines, *said.unknown, *said.cautions, *note])


def _candidate_text(candidate: Candidate) -> str:
    return f"{cluster_label(candidate.cluster)}\n{prediction_text(candidate.prediction)}"


def _preformatted(text: str) -> str:
    return f"<pre>{escape(text)}</pre>"
