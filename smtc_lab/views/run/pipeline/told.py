"""What a view is told of a run whose model is cut into the stages of a pipeline."""

from __future__ import annotations

from typing import TYPE_CHECKING

from smtc_lab.views.run.pipeline.info import (
    PipelineInfo,
    PipelineRankInfo,
    PipelineStageInfo,
    TimelineInfo,
)
from smtc_lab.views.run.pipeline.spans import RankSpan, spans_of
from smtc_lab.views.text import format as fmt

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from smtc_lab.metrics.pipeline.times import PipelineTimes, RankTimes, StageTimes

MOST_ROWS = 64
"""Stages and ranks that are shown, at most."""

MOST_SPANS = 1_200
"""Spans of all steps that are shown, and computations that were predicted, at most: each about
40 kB of JSON."""

_DIGITS = 6
_NONE = -1


def pipeline_info(times: PipelineTimes) -> PipelineInfo:
    """Return what a browser is told of a pipeline."""
    ranks = times.ranks[:MOST_ROWS]
    drawn = _timelines(times, len(ranks))
    computing_s = sum(_microbatch_s(stage) or 0.0 for stage in times.stages)
    return PipelineInfo(
        sentence=" ".join(filter(None, (fmt.brief(times.sentence), _mean_step(times)))),
        schedule=fmt.brief(times.schedule),
        microbatches=times.microbatches,
        replicas=times.replicas,
        num_steps=times.num_steps,
        stages=tuple(_stage(each, computing_s) for each in times.stages[:MOST_ROWS]),
        ranks=tuple(_rank(each, times.window_s) for each in ranks),
        timeline=next(drawn, None),
        other_steps=tuple(sorted(drawn, key=lambda one: one.step)),
        predicted=_predicted(times, len(ranks)),
        is_scaled=times.expected is not None and times.expected.is_scaled,
    )


def _microbatch_s(stage: StageTimes) -> float | None:
    if stage.forward_s is None or stage.backward_s is None:
        return None
    return stage.forward_s + stage.backward_s


def _stage(stage: StageTimes, computing_s: float) -> PipelineStageInfo:
    own_s = _microbatch_s(stage)
    first, last = stage.first_module, stage.last_module
    return PipelineStageInfo(
        rank=stage.rank,
        modules=fmt.brief(first if first == last else f"{first} … {last}"),
        num_modules=stage.num_modules,
        flops_fraction=stage.flops_fraction,
        time_fraction=None if own_s is None or not computing_s else own_s / computing_s,
        forward_s=stage.forward_s,
        backward_s=stage.backward_s,
        memory_bytes=stage.memory_bytes,
        limit_bytes=stage.limit_bytes,
    )


def _rank(rank: RankTimes, window_s: float | None) -> PipelineRankInfo:
    host, _, number = rank.name.rpartition("-rank")

    def share(spent_s: float | None) -> float | None:
        return spent_s / window_s if spent_s is not None and window_s else None

    return PipelineRankInfo(
        rank=int(number) if number.isdecimal() else rank.rank,
        host=fmt.brief(host),
        busy_fraction=share(rank.busy_s),
        wait_fraction=share(rank.wait_s),
    )


def _mean_step(times: PipelineTimes) -> str:
    """Return how long steps are, as one that is drawn is shorter or longer; empty: unknown."""
    if not times.steps or times.window_s is None:
        return ""
    return (
        f"From its first computation to its last a step takes {fmt.seconds(times.window_s)}, "
        f"the mean of {fmt.count(times.num_steps, 'step')}."
    )


def _timelines(times: PipelineTimes, num_ranks: int) -> Iterator[TimelineInfo]:
    """Yield the step in the middle by its time, and others while there is room for them."""
    left = MOST_SPANS
    for step in sorted(times.steps, key=lambda one: one is not times.drawn):
        every = spans_of(step, times.stages)
        if step is times.drawn or len(every) <= left:
            made = _columns(step.step, step.window_s, every, num_ranks)
            left -= len(made.rank)
            yield made


def _predicted(times: PipelineTimes, num_ranks: int) -> TimelineInfo | None:
    if times.expected is None:
        return None
    ranks = {stage.stage: stage.rank for stage in times.stages}
    every = [
        RankSpan(one.begin_s, one.end_s, ranks[one.stage], one.kind, one.stage, one.microbatch)
        for one in times.expected.computations
    ]
    return _columns(_NONE, times.expected.step_s, every, num_ranks)


def _columns(
    number: int, window_s: float, every: Sequence[RankSpan], num_ranks: int
) -> TimelineInfo:
    """Return spans as columns; of very many, those that began first."""
    shown = [each for each in every if each.rank < num_ranks][:MOST_SPANS]
    return TimelineInfo(
        step=number,
        window_s=window_s,
        left_out=len(every) - len(shown),
        rank=tuple(each.rank for each in shown),
        kind=tuple(each.kind for each in shown),
        stage=tuple(each.stage for each in shown),
        microbatch=tuple(each.microbatch for each in shown),
        begin_s=tuple(round(each.begin_s, _DIGITS) for each in shown),
        lasted_s=tuple(round(each.end_s - each.begin_s, _DIGITS) for each in shown),
    )
