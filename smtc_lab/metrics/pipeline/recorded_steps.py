"""The steps of a pipeline that all its ranks have recorded."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from smtc_lab.metrics.records.pipeline_records import FORWARD, WEIGHT

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from smtc_lab.metrics.records.pipeline_records import MicrobatchRecord


@dataclass(frozen=True, kw_only=True)
class PipelineStep:
    """One step that all ranks have recorded."""

    step: int
    """Number of the step in its run, from 0."""

    by_rank: tuple[tuple[MicrobatchRecord, ...], ...]
    """What each rank computed, by begin; none is empty."""

    @cached_property
    def computations(self) -> tuple[MicrobatchRecord, ...]:
        """What all ranks computed, one rank after the other."""
        return tuple(each for part in self.by_rank for each in part)

    @cached_property
    def window(self) -> tuple[float, float]:
        """Begin of the first and end of the last computation, in seconds since the epoch."""
        every = self.computations
        return min(each.begin_time_s for each in every), max(each.end_time_s for each in every)

    @property
    def window_s(self) -> float:
        """Time between the two, in seconds."""
        return self.window[1] - self.window[0]

    @cached_property
    def ends_s(self) -> Mapping[tuple[str, int, int], float]:
        """When each computation was over, by kind, stage and microbatch."""
        return {
            (each.kind, each.stage, each.microbatch): each.end_time_s
            for each in self.computations
        }


def whole_steps(
    by_rank: Sequence[Sequence[MicrobatchRecord]], num_stages: int
) -> list[PipelineStep]:
    """Return the steps of which everything was recorded, in order.

    Args:
        by_rank: What each rank recorded; it may still be recording.
        num_stages: Stages of the pipeline.
    """
    steps: list[dict[int, dict[object, MicrobatchRecord]]] = []
    for records in by_rank:
        own: dict[int, dict[object, MicrobatchRecord]] = defaultdict(dict)
        for each in records:  # what was started again counts as it was the last time
            own[each.step][each.kind, each.stage, each.microbatch] = each
        steps.append(own)
    found = []
    for number in sorted(set[int].intersection(*map(set, steps))):
        step = PipelineStep(
            step=number,
            by_rank=tuple(
                tuple(sorted(own[number].values(), key=lambda each: each.begin_time_s))
                for own in steps
            ),
        )
        if _is_whole(step, num_stages):
            found.append(step)
    return found


def _is_whole(step: PipelineStep, num_stages: int) -> bool:
    """Whether each stage has run as often forward as backward, and all equally often."""
    counts = Counter(
        (each.stage, each.kind == FORWARD) for each in step.computations if each.kind != WEIGHT
    )
    return len(counts) == 2 * num_stages and len(set(counts.values())) == 1
