"""Says what a picture of a planned pipeline shows, and reads where its user cuts it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from smtc_lab.errors import EntryPointError, ViewError
from smtc_lab.metrics.pipeline.bubble import idle_share
from smtc_lab.views.plan.cut_info import (
    PlannedCutInfo,
    PlannedModelInfo,
    PlannedModuleInfo,
    PlannedStageInfo,
)

if TYPE_CHECKING:
    from smtc_lab.parallel.pipeline.planning.planned import PipelinePlan, PlannedStage


def described_model(planned: PipelinePlan) -> PlannedModelInfo:
    """Return what stays the same wherever the model of a plan is cut."""
    try:
        best = planned.unpinned()
    except EntryPointError:
        best = None
    return PlannedModelInfo(
        modules=tuple(
            PlannedModuleInfo(name=name, time=seconds)
            for stage in planned.stages
            for name, seconds in zip(stage.modules, stage.module_s, strict=True)
        ),
        unit=_unit(planned),
        schedule=planned.schedule,
        microbatches=planned.microbatches,
        is_measured=planned.is_measured,
        best_starts=None if best is None else starts_of(best),
        best_step=None if best is None else best.step.step_s,
    )


def described_cut(
    planned: PipelinePlan, *, answer: int, refused: str, code: str
) -> PlannedCutInfo:
    """Return where a plan cuts its model, and what that is predicted to bring.

    Args:
        planned: The plan.
        answer: Number of the message that it answers.
        refused: Why it is not what that message asked for; empty: it is.
        code: What makes it.
    """
    return PlannedCutInfo(
        answer=answer,
        starts=starts_of(planned),
        stages=tuple(_stage(one, planned.stage_limit_bytes) for one in planned.stages),
        step=planned.step.step_s,
        idle_fraction=idle_share(planned.step.bubble),
        speed_up=planned.speed_up,
        sentence=planned.sentence,
        refused=refused,
        code=code,
    )


def starts_of(planned: PipelinePlan) -> tuple[int, ...]:
    """Return the first module of each stage, counted from 0."""
    starts, first = [], 0
    for stage in planned.stages:
        starts.append(first)
        first += len(stage.modules)
    return tuple(starts)


def cut_at(planned: PipelinePlan, starts: object) -> PipelinePlan:
    """Return the plan with the stages beginning at other modules, whether it fits or not.

    Args:
        planned: The plan.
        starts: As a browser sent it: first module of each stage, counted from 0.

    Raises:
        ViewError: These are not the first modules of its stages.
        EntryPointError: The model cannot be cut there.
    """
    names = [name for stage in planned.stages for name in stage.modules]
    stages = len(planned.stages)
    if not (
        isinstance(starts, list)
        and len(starts) == stages
        and all(type(one) is int for one in starts)
        and starts[0] == 0
        and starts == sorted(set(starts))
        and starts[-1] < len(names)
    ):
        raise ViewError(
            f"A cut at {str(starts)[:80]} is none: it needs the first modules of {stages} "
            f"stages, as increasing numbers from 0 to {len(names) - 1}. Give each a module."
        )
    ends = [*starts[1:], len(names)]
    pins = {
        names[place]: stage
        for stage, (first, end) in enumerate(zip(starts, ends, strict=True))
        for place in range(first, end)
    }
    return planned.pinned(pins, is_limited=False)


def _unit(planned: PipelinePlan) -> Literal["s", "fraction"]:
    is_known = planned.is_measured or planned.device_step_s != 1.0
    return "s" if is_known else "fraction"


def _stage(stage: PlannedStage, limit_bytes: float | None) -> PlannedStageInfo:
    time = stage.time
    return PlannedStageInfo(
        rank=stage.rank,
        time=time.forward_s + time.backward_s + time.weight_s,
        held_bytes=stage.held_bytes,
        limit_bytes=limit_bytes,
        received_bytes=stage.received_bytes,
    )
