"""What a file shows of a run, of a study, of a comparison or of a plan."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from smtc_lab.launchers.run import Run
from smtc_lab.metrics.compared.comparison import Comparison
from smtc_lab.metrics.scaling.scaling import Scaling
from smtc_lab.planner.plan import Plan
from smtc_lab.planner.run_prediction import compared_runs
from smtc_lab.study.comparison.compare import ComparisonOutcome
from smtc_lab.study.study_run import StudyRun
from smtc_lab.views.comparison.bundle import snapshot_of
from smtc_lab.views.kinds import kind_at
from smtc_lab.views.plan.describer import describe_plan
from smtc_lab.views.plan.words import plan_text
from smtc_lab.views.scaling.bundle import snapshot_of as scaling_snapshot
from smtc_lab.views.scaling.text import scaling_text
from smtc_lab.views.share.hidden import secrets_of, text_without, without, without_values
from smtc_lab.views.study.kind import StudyKind
from smtc_lab.views.text.table import comparison_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from smtc_lab.planner.calibration.calibration import Calibration
    from smtc_lab.spec.job import TrainingJob

Shareable = Run | StudyRun | ComparisonOutcome | Comparison | Scaling | Plan
"""What can be shared."""


@dataclass(frozen=True, kw_only=True)
class Shared:
    """A result as a file shows it. Texts are data of users, without their secrets."""

    kind: str
    """A word for people: ``run``, ``comparison``, ``batch size search``, ``plan``, …"""

    name: str
    """Its name; of a plan, the script."""

    saved: dict[str, Any]
    """What a notebook keeps of it, as JSON values; ``static_model.ts`` reads it."""

    text: str
    """It for a reader that runs no script."""

    made: datetime | None
    """When it began, or was made; None: not known."""

    is_emulated: bool
    """Whether its step times are emulated."""

    goes_on: bool
    """Whether more will come: this is what there is so far."""


def shared(thing: Shareable) -> Shared:
    """Return what a file shows of a thing, as it is now.

    Raises:
        StoreError: Its folder cannot be read.
        TypeError: It is none of the things that can be shared.
    """
    if isinstance(thing, Run | StudyRun):
        return _of_folder(thing)
    if isinstance(thing, Comparison | ComparisonOutcome):
        return _of_comparison(thing)
    if isinstance(thing, Scaling):
        return _of_scaling(thing)
    if isinstance(thing, Plan):
        return _of_plan(thing)
    raise TypeError(
        f"An object of type {type(thing).__name__!r} cannot be shared. Give a Run, a "
        "ComparisonRun or another study, a ComparisonOutcome, a Comparison, a Scaling or a "
        "Plan."
    )


def _of_folder(thing: Run | StudyRun) -> Shared:
    path = thing.folder.path
    kind = kind_at(path)
    seen = kind.see(path)
    saved = seen.as_dict()
    jobs = [thing.job] if isinstance(thing, Run) else thing.request.jobs
    if isinstance(thing, StudyRun) and isinstance(kind, StudyKind):
        told = tuple(map(without_values, jobs))
        saved["info"]["code"] = kind.code(replace(thing.request, jobs=told))
    info, started_s = saved["info"], thing.state.started_s
    return _without_secrets(
        Shared(
            kind=kind.name,
            name=str(info.get("name", info.get("job_name", path.name))),
            saved=saved,
            text=kind.text(seen),
            made=None if started_s is None else datetime.fromtimestamp(started_s, UTC),
            is_emulated=info.get("evidence") == "emulated",
            goes_on=info.get("ended") is False,
        ),
        jobs,
    )


def _of_comparison(thing: Comparison | ComparisonOutcome) -> Shared:
    jobs: list[TrainingJob] = []
    if isinstance(thing, ComparisonOutcome):
        jobs = [run.job for run in thing.runs]
        runs = tuple(replace(run, job=without_values(run.job)) for run in thing.runs)
        thing = replace(thing, runs=runs)
    comparison = thing if isinstance(thing, Comparison) else thing.comparison
    return _of_result(
        "comparison",
        snapshot_of(thing).as_dict(),
        comparison_table(comparison),
        comparison,
        jobs,
    )


def _of_scaling(thing: Scaling) -> Shared:
    saved = scaling_snapshot(thing).as_dict()
    return _of_result("scaling", saved, scaling_text(thing), thing.comparison, [])


def _of_result(
    kind: str,
    saved: dict[str, Any],
    text: str,
    comparison: Comparison,
    jobs: Sequence[TrainingJob],
) -> Shared:
    """Return what a file shows of the result of a study that has ended."""
    return _without_secrets(
        Shared(
            kind=kind,
            name=saved["info"]["name"],
            saved=saved,
            text=text,
            made=_moment(comparison.created),
            is_emulated=comparison.evidence == "emulated",
            goes_on=False,
        ),
        jobs,
    )


def _of_plan(plan: Plan) -> Shared:
    calibration = plan.calibration
    told = plan.model_copy(update={"calibration": without_values(calibration)})
    info = describe_plan(told, compared_runs(calibration))
    return _without_secrets(
        Shared(
            kind="plan",
            name=info.entry_point,
            saved=info.as_dict(),
            text=plan_text(info),
            made=_moment(plan.created),
            is_emulated=calibration.emulated_device_s is not None,
            goes_on=False,
        ),
        [calibration],
    )


def _without_secrets(told: Shared, given: Sequence[TrainingJob | Calibration]) -> Shared:
    secrets = secrets_of(given)
    saved = json.loads(json.dumps(told.saved), parse_constant=_unknown)
    return replace(
        told,
        name=text_without(told.name, secrets),
        saved=without(saved, secrets),
        text=text_without(told.text, secrets),
    )


def _unknown(_: str) -> None:
    """Stand for a number that JSON does not have."""


def _moment(created: str) -> datetime | None:
    try:
        return datetime.fromisoformat(created)
    except ValueError:
        return None
