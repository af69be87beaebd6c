"""How long ranks of a pipeline wait: by the formula of a schedule, and as it was timed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from smtc_lab.metrics.records.pipeline_records import BACKWARD, FORWARD

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from smtc_lab.metrics.records.pipeline_records import MicrobatchRecord

_ROUND = frozenset({"gpipe", "1f1b", "interleaved1f1b", "loopedbfs"})
"""Schedules whose stages only wait while a pipeline fills and runs empty."""

Key = tuple[str, int, int]
"""Kind, stage and microbatch of a computation."""


def ideal_bubble(schedule: str, *, ranks: int, stages: int, microbatches: int) -> float | None:
    """Return the idle over the busy time of a rank, where all stages take equally long.

    It is (p - 1) / (v m) of p ranks with v stages each and m microbatches.

    Args:
        schedule: As a ``Distribution`` names it.
        ranks: Ranks of the pipeline, at least 1.
        stages: Stages of the pipeline, a multiple of the ranks.
        microbatches: Microbatches, at least 1.

    Returns:
        None: the schedule fills the gaps with gradients of weights, and has no such formula.

    Source:
        Narayanan et al., Efficient Large-Scale Language Model Training on GPU Clusters Using
        Megatron-LM, SC 2021, sections 2.2.1 and 2.2.2, https://arxiv.org/abs/2104.04473
    """
    if schedule not in _ROUND:
        return None
    return (ranks - 1) / (stages / ranks * microbatches)


def idle_share(bubble: float) -> float:
    """Return the share of a step that a rank is idle, from its idle over its busy time."""
    return bubble / (1 + bubble)


def waited_s(
    own: Sequence[MicrobatchRecord],
    ready_s: Mapping[Key, float],
    window: tuple[float, float],
    num_stages: int,
) -> float:
    """Return how long a rank waited for what others computed, in one step, in seconds.

    Args:
        own: What the rank computed in the step, by begin; at least one.
        ready_s: When each computation of all ranks was over.
        window: Begin of the first and end of the last computation of any rank.
        num_stages: Stages of the pipeline.
    """
    total_s, free_s = 0.0, window[0]
    for each in own:
        needed_s = max(
            (ready_s[key] for key in _needs(each, num_stages) if key in ready_s), default=free_s
        )
        total_s += max(0.0, min(each.begin_time_s, needed_s) - free_s)
        free_s = max(free_s, each.end_time_s)
    return total_s + max(0.0, window[1] - free_s)


def _needs(record: MicrobatchRecord, num_stages: int) -> Iterator[Key]:
    """Yield what must be over on other stages before a computation can begin."""
    if record.kind == FORWARD and record.stage > 0:
        yield FORWARD, record.stage - 1, record.microbatch
    if record.kind == BACKWARD and record.stage < num_stages - 1:
        yield BACKWARD, record.stage + 1, record.microbatch
