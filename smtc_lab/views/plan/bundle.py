"""What a notebook keeps of a plan: one mime bundle, legible with no kernel and no script."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from smtc_lab.planner.run_prediction import compared_runs
from smtc_lab.views.figures.drawing import mime_bundle, picture_of
from smtc_lab.views.plan.describer import describe_plan
from smtc_lab.views.plan.words import (
    COLUMNS,
    best_point,
    chart_note,
    measured_sentence,
    plan_text,
    table_cells,
    table_note,
    table_points,
)
from smtc_lab.views.text.rendering import render

if TYPE_CHECKING:
    from smtc_lab.planner.plan import Plan
    from smtc_lab.views.figures.drawing import Picture
    from smtc_lab.views.plan.info import PlanInfo

PLAN_MIME = "application/vnd.smtc-lab.plan+json"
"""Our own type: what ``PlanInfo.as_dict`` returns."""


def bundle_of(plan: Plan) -> dict[str, Any]:
    """Return the mime bundle of a plan, with the runs that were compared with it."""
    return info_bundle(describe_plan(plan, compared_runs(plan.calibration)))


def info_bundle(plan: PlanInfo) -> dict[str, Any]:
    """Return the mime bundle of what is shown of a plan."""
    # matplotlib takes most of a second to import, and only a figure needs it
    from smtc_lab.views.plan.figures import plan_figure  # noqa: PLC0415

    picture = picture_of(plan_figure(plan, framed=False))
    return mime_bundle(
        {PLAN_MIME: plan.as_dict()},
        html=plan_html(plan, picture=picture),
        text=plan_text(plan),
        picture=picture,
    )


def plan_html(plan: PlanInfo, *, picture: Picture) -> str:
    """Return a plan as HTML that needs no script, and that sanitizers leave whole."""
    points = table_points(plan)
    best = best_point(plan)
    return render(
        "display_plan.html.j2",
        plan=plan,
        evidence="predicted" if best is None else best.evidence,
        columns=COLUMNS,
        rows=[table_cells(point) for point in points],
        caption=table_note(plan, num_shown=len(points)),
        explanation=[] if best is None else best.explanation.splitlines(),
        measured=[measured_sentence(run) for run in plan.measured],
        notes=[*filter(None, [chart_note(plan)]), *plan.notes],
        picture=picture,
    )
