"""What is told of each stage of a model, once it is cut."""

from __future__ import annotations

from typing import TYPE_CHECKING

from smtc_lab.metrics.records.pipeline_records import StageRecord
from smtc_lab.parallel.pipeline.cutting.pieces import host_bytes
from smtc_lab.parallel.pipeline.schedules import SCHEDULES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from smtc_lab.parallel.pipeline.cutting.pieces import Pieces
    from smtc_lab.parallel.pipeline.options import PipelineOptions
    from smtc_lab.parallel.pipeline.plan import StagePlan
    from smtc_lab.parallel.pipeline.schedules import ScheduleKind


def stage_records(  # noqa: PLR0913  what a pipeline has, by name
    pieces: Pieces,
    plans: Sequence[StagePlan],
    options: PipelineOptions,
    *,
    kind: ScheduleKind,
    rank_of: Sequence[int],
    first_rank: int,
    state_factor: float,
) -> tuple[StageRecord, ...]:
    """Return what each stage is, by number.

    Args:
        pieces: The model as a sequence.
        plans: Its stages.
        options: How it was cut.
        kind: The schedule.
        rank_of: Rank of each stage, in the pipeline.
        first_rank: Rank of the job that is the pipeline's first.
        state_factor: Bytes that are held for each byte of a parameter.
    """
    costs = pieces.costs(state_factor=state_factor)
    whole = sum(one.cost for one in costs)
    ranks = max(rank_of) + 1
    in_flight = kind.in_flight(len(plans), options.microbatches)
    limit = options.limit_bytes
    records = []
    for stage, plan in enumerate(plans):
        own = costs[plan.first : plan.end]
        largest = max(own, key=lambda one: one.cost)
        records.append(
            StageRecord(
                stage=stage,
                num_stages=len(plans),
                place=rank_of[stage],
                num_ranks=ranks,
                first_rank=first_rank,
                schedule=next(name for name, one in SCHEDULES.items() if one is kind),
                microbatches=options.microbatches,
                first_module=own[0].name,
                last_module=own[-1].name,
                num_modules=len(own),
                flops_fraction=_share(sum(one.cost for one in own), whole, 1 / len(plans)),
                largest_module=largest.name,
                largest_fraction=_share(largest.cost, whole, 0.0),
                parameter_bytes=pieces.parameter_bytes(plan.parameters),
                largest_bytes=round(max(one.static_bytes for one in own) / state_factor),
                static_bytes=state_factor * pieces.parameter_bytes(plan.parameters),
                activation_bytes=sum(one.activation_bytes for one in own)
                + own[0].received_bytes,
                working_bytes=max(one.working_bytes for one in own),
                host_bytes=sum(map(host_bytes, pieces.sequence[plan.first : plan.end])),
                in_flight=in_flight[stage],
                sent_bytes=0 if plan.is_last else pieces.cut(plan.end).num_bytes,
                limit_bytes=None if limit is None else limit * ranks / len(plans),
            )
        )
    return tuple(records)


def _share(part: float, whole: float, unknown: float) -> float:
    """Return a share, 0 to 1, also where rounding would leave it."""
    return min(1.0, part / whole) if whole else unknown
