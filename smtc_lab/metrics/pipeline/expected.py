"""How a step of a pipeline would go by what its cut expects, in the order that was run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from smtc_lab.metrics.pipeline.played import PlannedComputation, StageTime, simulate
from smtc_lab.metrics.records.pipeline_records import WEIGHT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from smtc_lab.metrics.pipeline.played import SimulatedStep
    from smtc_lab.metrics.pipeline.recorded_steps import PipelineStep
    from smtc_lab.metrics.pipeline.times import Kind
    from smtc_lab.metrics.records.pipeline_records import StageRecord

FORWARD_SHARE = 1 / 3
"""Share of a microbatch's time that its forward is expected to take; gradients of inputs and of
weights take as long each."""


@dataclass(frozen=True, kw_only=True)
class PlayedExpectation:
    """A step as it would go where each stage takes what the cut expects."""

    step: SimulatedStep
    is_scaled: bool
    """Whether the cut told shares alone: they are of what all stages took together."""


def apart_shares(stage: int) -> tuple[float, float]:
    """Return the shares of a microbatch's time for gradients of inputs, and of weights.

    Where both are computed together they add up. Nobody needs gradients of the inputs of the
    first stage.
    """
    if stage == 0:
        return 0.0, 1 - FORWARD_SHARE
    return FORWARD_SHARE, FORWARD_SHARE


def played_expectation(
    step: PipelineStep, stages: Sequence[StageRecord], computing_s: float
) -> PlayedExpectation | None:
    """Return how a step would go by what the cut expects; None: that is not known.

    Each rank computes in the order in which it did, which is its schedule's, and begins as soon
    as it has what it needs.

    Args:
        step: A step that all ranks have recorded.
        stages: All stages of the pipeline, in order.
        computing_s: What all stages took for a microbatch together, in seconds. An emulated
            device declares what each takes; of others a cut knows the shares alone.
    """
    declared = [one.device_s for one in stages]
    is_scaled = any(one is None for one in declared)
    shares = [one.flops_fraction for one in stages]
    if is_scaled and not (sum(shares) and computing_s):
        return None
    took_s = (
        [computing_s * one / sum(shares) for one in shares]
        if is_scaled
        else [one or 0.0 for one in declared]
    )
    try:
        played = simulate(
            _order(step),
            [_stage_time(one, own_s) for one, own_s in zip(stages, took_s, strict=True)],
        )
    except ValueError:  # clocks of hosts or a record say what no schedule does
        return None
    return PlayedExpectation(step=played, is_scaled=is_scaled) if played.step_s else None


def _stage_time(stage: StageRecord, microbatch_s: float) -> StageTime:
    inputs, weights = apart_shares(stage.stage)
    return StageTime(
        forward_s=FORWARD_SHARE * microbatch_s,
        backward_s=inputs * microbatch_s,
        weight_s=weights * microbatch_s,
        send_s=stage.send_s or 0.0,
    )


def _order(step: PipelineStep) -> list[list[PlannedComputation]]:
    apart = {(one.stage, one.microbatch) for one in step.computations if one.kind == WEIGHT}
    return [
        [
            PlannedComputation(
                rank=rank,
                stage=one.stage,
                microbatch=one.microbatch,
                kind=cast("Kind", one.kind),
                is_split=(one.stage, one.microbatch) in apart,
            )
            for one in own
        ]
        for rank, own in enumerate(step.by_rank)
    ]
