"""In which order the ranks of a pipeline compute, by torch's own schedules."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import torch

from smtc_lab.metrics.pipeline.played import PlannedComputation

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from smtc_lab.metrics.pipeline.times import Kind
    from smtc_lab.parallel.pipeline.schedules import ScheduleKind

_KINDS: dict[str, Kind] = {"F": "forward", "B": "backward", "I": "backward", "W": "weight"}


def compute_order(
    kind: ScheduleKind, ranks: int, stages: int, microbatches: int
) -> list[list[PlannedComputation]]:
    """Return what each rank computes, in the order of torch's schedule.

    Args:
        kind: The schedule.
        ranks: Ranks of the pipeline, at least 2.
        stages: Its stages, a multiple of the ranks.
        microbatches: As the schedule can run them; see ``ScheduleKind.check``.
    """
    if kind.is_single:
        ahead = kind.in_flight(ranks, microbatches)
        return [list(_one_stage(rank, ahead[rank], microbatches)) for rank in range(ranks)]
    from torch.distributed.pipelining.schedules import get_schedule_class  # noqa: PLC0415  takes a second

    own = [
        SimpleNamespace(
            num_stages=stages,
            stage_index=stage,
            group_size=ranks,
            group_rank=0,
            group=None,
            submod=torch.nn.Identity(),
        )
        for stage in range(stages)
        if kind.rank_of(stage, ranks) == 0
    ]
    schedule_class: Any = get_schedule_class(kind.torch_name)
    orders = schedule_class(own, microbatches).pipeline_order
    return [list(_computations(rank, orders[rank])) for rank in range(ranks)]


def _one_stage(rank: int, ahead: int, microbatches: int) -> Iterator[PlannedComputation]:
    """Yield what a rank with one stage computes; torch's own list of 1F1B is off by one.

    Args:
        rank: And number of its stage.
        ahead: Forwards before its first backward.
        microbatches: Of a step.
    """
    forward: list[tuple[Kind, int]] = [("forward", one) for one in range(microbatches)]
    backward: list[tuple[Kind, int]] = [("backward", one) for one in range(microbatches)]
    order = forward[:ahead]
    for done, next_one in zip(backward, forward[ahead:], strict=False):
        order += [done, next_one]
    for kind, microbatch in order + backward[microbatches - ahead :]:
        yield PlannedComputation(
            rank=rank, stage=rank, microbatch=microbatch, kind=kind, is_split=False
        )


def _computations(rank: int, actions: Sequence[Any]) -> Iterator[PlannedComputation]:
    for action in actions:
        for one in () if action is None else (action.sub_actions or (action,)):
            letter = one.computation_type.value
            if letter in _KINDS:
                yield PlannedComputation(
                    rank=rank,
                    stage=one.stage_index,
                    microbatch=one.microbatch_index,
                    kind=_KINDS[letter],
                    is_split=letter in "IW",
                )
