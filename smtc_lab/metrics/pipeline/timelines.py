"""Which steps of a pipeline are told box by box, and what its cut expected of one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from smtc_lab.metrics.pipeline.expected import played_expectation
from smtc_lab.metrics.pipeline.times import Computation, ExpectedStep, TimedStep

if TYPE_CHECKING:
    from collections.abc import Sequence

    from smtc_lab.metrics.pipeline.played import PlannedComputation
    from smtc_lab.metrics.pipeline.recorded_steps import PipelineStep
    from smtc_lab.metrics.records.pipeline_records import MicrobatchRecord, StageRecord

_SHOWN_STEPS = 8
_SHOWN_COMPUTATIONS = 20_000


def median_step(steps: Sequence[PipelineStep]) -> PipelineStep | None:
    """Return the step in the middle by its time; None: there is none that can be shown."""
    by_time = sorted(steps, key=lambda step: (step.window_s, step.step))
    found = by_time[len(by_time) // 2] if by_time else None
    if found is None or len(found.computations) > _SHOWN_COMPUTATIONS:
        return None
    return found


def shown_steps(
    steps: Sequence[PipelineStep], median: PipelineStep | None
) -> tuple[TimedStep, ...]:
    """Return the timelines that are told: the median step, the first, and the newest."""
    if median is None:
        return ()
    others = [step for step in (*steps[:1], *reversed(steps[1:])) if step is not median]
    shown = [median]
    left = _SHOWN_COMPUTATIONS - len(median.computations)
    for step in others[: _SHOWN_STEPS - 1]:
        left -= len(step.computations)
        if left < 0:
            break
        shown.append(step)
    return tuple(_timeline(step) for step in sorted(shown, key=lambda step: step.step))


def _timeline(step: PipelineStep) -> TimedStep:
    begin_s = step.window[0]
    every = sorted(step.computations, key=lambda each: each.begin_time_s)
    return TimedStep(
        step=step.step,
        begin_time_s=begin_s,
        window_s=step.window_s,
        computations=tuple(
            _computation(each, each.begin_time_s - begin_s, each.end_time_s - begin_s)
            for each in every
        ),
    )


def expected_step(
    step: PipelineStep | None,
    stages: Sequence[StageRecord],
    took_s: Sequence[tuple[float, float] | None],
) -> ExpectedStep | None:
    """Return what the cut expected of a step; None: it is not known."""
    if step is None:
        return None
    played = played_expectation(
        step, stages, sum(sum(one) for one in took_s if one is not None)
    )
    if played is None:
        return None
    return ExpectedStep(
        step_s=played.step.step_s,
        is_scaled=played.is_scaled,
        computations=tuple(
            _computation(each, each.begin_s, each.end_s) for each in played.step.computations
        ),
    )


def _computation(
    each: MicrobatchRecord | PlannedComputation, begin_s: float, end_s: float
) -> Computation:
    return Computation.model_validate(
        {
            "stage": each.stage,
            "microbatch": each.microbatch,
            "kind": each.kind,
            "begin_s": begin_s,
            "end_s": end_s,
        }
    )
