"""What the ranks of a pipeline did in a step without a gap: they computed, or waited."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from smtc_lab.metrics.pipeline.times import Computation, Kind, StageTimes, TimedStep
    from smtc_lab.views.run.pipeline.info import Span

_NONE = -1
_LEAST_S = 1e-6  # clocks in seconds since the epoch tell no less apart
_Key: TypeAlias = "tuple[Kind, int, int]"


class RankSpan(NamedTuple):
    """What one rank did for some time."""

    begin_s: float
    """Begin, in seconds since that of the step."""

    end_s: float
    """End, likewise."""

    rank: int
    """Place of the rank in the pipeline."""

    kind: Span
    """What it did."""

    stage: int = _NONE
    """Stage that it computed; -1: none."""

    microbatch: int = _NONE
    """Microbatch that it computed; -1: none."""


def spans_of(step: TimedStep, stages: Sequence[StageTimes]) -> list[RankSpan]:
    """Return what all ranks did in a step, by begin.

    Args:
        step: The step.
        stages: All stages of the pipeline, in order.
    """
    ranks = {stage.stage: stage.rank for stage in stages}
    ready_s = {
        (each.kind, each.stage, each.microbatch): each.end_s for each in step.computations
    }
    own: dict[int, list[Computation]] = {rank: [] for rank in ranks.values()}
    for each in step.computations:
        own[ranks[each.stage]].append(each)
    found = [
        span
        for rank, computations in own.items()
        for span in _of_rank(rank, computations, ready_s, step.window_s)
    ]
    return sorted(found)


def _of_rank(
    rank: int,
    computations: Sequence[Computation],
    ready_s: Mapping[_Key, float],
    window_s: float,
) -> Iterator[RankSpan]:
    free_s = 0.0
    for each in computations:
        yield from _gap(rank, free_s, each.begin_s, _input_s(each, ready_s))
        yield RankSpan(each.begin_s, each.end_s, rank, each.kind, each.stage, each.microbatch)
        free_s = max(free_s, each.end_s)
    yield from _gap(rank, free_s, window_s, window_s)


def _gap(rank: int, from_s: float, until_s: float, ready_s: float) -> Iterator[RankSpan]:
    """Yield how a rank waited: until its input was computed, and then until it had come."""
    computed_s = min(max(from_s, ready_s), until_s)
    if computed_s - from_s > _LEAST_S:
        yield RankSpan(from_s, computed_s, rank, "wait")
    if until_s - computed_s > _LEAST_S:
        yield RankSpan(computed_s, until_s, rank, "transfer")


def _input_s(computation: Computation, ready_s: Mapping[_Key, float]) -> float:
    """Return when what it needs from another stage was computed; 0: it needs nothing."""
    kind, stage = computation.kind, computation.stage
    before = {"forward": stage - 1, "backward": stage + 1}.get(kind, _NONE)
    return ready_s.get((kind, before, computation.microbatch), 0.0)
