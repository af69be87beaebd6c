"""Builders of what the ranks of a pipeline record: schedules as they would run ideally."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from smtc_lab.metrics.records.pipeline_records import (
    BACKWARD,
    FORWARD,
    MicrobatchRecord,
    PipelineRecords,
    StageRecord,
)
from tests.kit.records import STARTED_S

if TYPE_CHECKING:
    from collections.abc import Sequence

_STAGE = StageRecord(
    stage=0,
    num_stages=1,
    place=0,
    num_ranks=1,
    first_rank=0,
    schedule="gpipe",
    microbatches=4,
    first_module="layers.0",
    last_module="layers.1",
    num_modules=2,
    flops_fraction=0.5,
    largest_module="layers.1",
    largest_fraction=0.3,
    parameter_bytes=1_000,
    largest_bytes=600,
    static_bytes=4_000.0,
    activation_bytes=100.0,
    in_flight=2,
    sent_bytes=64,
)


def stage_record(**overrides: Any) -> StageRecord:  # noqa: ANN401  any field of a StageRecord
    """Return the only stage of a pipeline, with these fields changed."""
    return replace(_STAGE, **overrides)


def gpipe_records(
    *,
    seconds: Sequence[float],
    microbatches: int,
    steps: int = 3,
    **stage: Any,  # noqa: ANN401  any field of a StageRecord
) -> PipelineRecords:
    """Return what a pipeline under GPipe records, where nothing but stages takes time.

    Args:
        seconds: Forward time of a microbatch by stage, one for each rank; backward takes twice
            as long.
        microbatches: Microbatches of a step.
        steps: Steps that were timed.
        **stage: Fields of all stages.
    """
    ranks = len(seconds)
    computed: dict[int, list[MicrobatchRecord]] = defaultdict(list)
    for step in range(steps):
        begin_s = STARTED_S + 100.0 * step
        for each in _one_step(step, begin_s, seconds, microbatches):
            computed[each.stage].append(each)
    names = [f"algo-1-rank{rank}" for rank in range(ranks)]
    return PipelineRecords(
        stages={
            name: [
                stage_record(
                    **{
                        "stage": place,
                        "place": place,
                        "num_stages": ranks,
                        "num_ranks": ranks,
                        "microbatches": microbatches,
                        "flops_fraction": seconds[place] / sum(seconds),
                        **stage,
                    }
                )
            ]
            for place, name in enumerate(names)
        },
        microbatches={name: computed[place] for place, name in enumerate(names)},
    )


def _one_step(
    step: int, begin_s: float, seconds: Sequence[float], microbatches: int
) -> list[MicrobatchRecord]:
    free_s = [begin_s] * len(seconds)
    ready_s: dict[tuple[str, int, int], float] = {}
    found = []
    stages = range(len(seconds))
    order = [(FORWARD, stage, part) for part in range(microbatches) for stage in stages]
    order += [
        (BACKWARD, stage, part) for part in range(microbatches) for stage in reversed(stages)
    ]
    for kind, stage, part in order:
        before = stage - 1 if kind == FORWARD else stage + 1
        from_s = max(free_s[stage], ready_s.get((kind, before, part), begin_s))
        until_s = from_s + seconds[stage] * (1 if kind == FORWARD else 2)
        free_s[stage] = ready_s[kind, stage, part] = until_s
        found.append(
            MicrobatchRecord(
                step=step,
                stage=stage,
                microbatch=part,
                kind=kind,
                begin_time_s=from_s,
                end_time_s=until_s,
            )
        )
    return found
