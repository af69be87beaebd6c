"""Makes the numbers of a pipeline out of what its ranks recorded."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING

from smtc_lab.metrics.pipeline.bubble import ideal_bubble, idle_share, waited_s
from smtc_lab.metrics.pipeline.recorded_steps import PipelineStep, whole_steps
from smtc_lab.metrics.pipeline.timelines import expected_step, median_step, shown_steps
from smtc_lab.metrics.pipeline.times import (
    PipelineTimes,
    RankTimes,
    StageTimes,
)
from smtc_lab.metrics.records.cluster_time import pipeline_in_cluster_time
from smtc_lab.metrics.records.pipeline_records import FORWARD

if TYPE_CHECKING:
    from collections.abc import Sequence

    from smtc_lab.metrics.records.pipeline_records import PipelineRecords, StageRecord
    from smtc_lab.metrics.result import Evidence

_COUNTED_STEPS = 200
"""Newest timed steps that means are over, at most."""

_UNEVEN = 1.1
"""From this imbalance on it is worth a sentence."""


def pipeline_times(
    records: PipelineRecords | None, *, evidence: Evidence, dilation: float = 1.0
) -> PipelineTimes | None:
    """Return a pipeline in numbers; None: its ranks have not all told yet how it is cut.

    Args:
        records: What the ranks of a run recorded so far.
        evidence: What times of the run are.
        dilation: Time dilation of the run, by which its times are divided.
    """
    records = pipeline_in_cluster_time(records, dilation=dilation)
    found = _first_pipeline(records)
    if records is None or found is None:
        return None
    stages, names, replicas = found
    steps = whole_steps([records.microbatches.get(name, ()) for name in names], len(stages))
    counted = (steps[1:] or steps)[-_COUNTED_STEPS:]
    took_s = _stage_seconds(counted, len(stages))
    ranks = tuple(
        _rank(place, name, [one.stage for one in stages if one.place == place], counted)
        for place, name in enumerate(names)
    )
    median = median_step(counted)
    first = stages[0]
    ideal = ideal_bubble(
        first.schedule, ranks=len(names), stages=len(stages), microbatches=first.microbatches
    )
    times = PipelineTimes(
        evidence=evidence,
        schedule=first.schedule,
        microbatches=first.microbatches,
        replicas=replicas,
        num_steps=len(counted),
        window_s=_mean([step.window_s for step in counted]),
        bubble=_bubble(ranks),
        ideal_bubble=ideal,
        imbalance=_imbalance(took_s),
        sentence="",
        stages=tuple(_stage(one, took) for one, took in zip(stages, took_s, strict=True)),
        ranks=ranks,
        steps=shown_steps(counted, median),
        median_step=None if median is None else median.step,
        expected=expected_step(median, stages, took_s),
    )
    return times.model_copy(update={"sentence": _sentence(times)})


def _first_pipeline(
    records: PipelineRecords | None,
) -> tuple[list[StageRecord], list[str], int] | None:
    """Return stages and names of ranks of the first pipeline, in order, and how many there are.

    What was cut last counts; None: a rank has not told its stages yet.
    """
    if records is None:
        return None
    last = {
        name: [one for one in told if _same_cut(one, told[-1])]
        for name, told in records.stages.items()
        if told
    }
    firsts = {told[-1].first_rank for told in last.values()}
    if not firsts:
        return None
    newest = next(told[-1] for told in last.values() if told[-1].first_rank == min(firsts))
    own = {
        name: told
        for name, told in last.items()
        if told[-1].first_rank == newest.first_rank and _same_cut(told[-1], newest)
    }
    stages = {one.stage: one for told in own.values() for one in told}
    names = {told[-1].place: name for name, told in own.items()}
    if len(stages) < newest.num_stages or len(names) < newest.num_ranks:
        return None
    return (
        [stages[number] for number in range(newest.num_stages)],
        [names[place] for place in range(newest.num_ranks)],
        len(firsts),
    )


def _same_cut(one: StageRecord, other: StageRecord) -> bool:
    return (one.num_stages, one.num_ranks, one.schedule, one.microbatches) == (
        other.num_stages,
        other.num_ranks,
        other.schedule,
        other.microbatches,
    )


def _stage_seconds(
    steps: Sequence[PipelineStep], num_stages: int
) -> list[tuple[float, float] | None]:
    """Return the mean seconds of forward and backward of a microbatch, by stage."""
    total_s: dict[tuple[int, bool], float] = defaultdict(float)
    count: Counter[int] = Counter()
    for step in steps:
        for each in step.computations:
            is_forward = each.kind == FORWARD
            total_s[each.stage, is_forward] += each.end_time_s - each.begin_time_s
            count[each.stage] += is_forward
    return [
        (total_s[stage, True] / count[stage], total_s[stage, False] / count[stage])
        if count[stage]
        else None
        for stage in range(num_stages)
    ]


def _stage(record: StageRecord, took_s: tuple[float, float] | None) -> StageTimes:
    return StageTimes(
        stage=record.stage,
        rank=record.place,
        first_module=record.first_module,
        last_module=record.last_module,
        num_modules=record.num_modules,
        flops_fraction=record.flops_fraction,
        largest_module=record.largest_module,
        largest_fraction=record.largest_fraction,
        parameter_bytes=record.parameter_bytes,
        sent_bytes=record.sent_bytes,
        largest_bytes=record.largest_bytes,
        static_bytes=record.static_bytes,
        activation_bytes=record.activation_bytes,
        host_bytes=record.in_flight * record.host_bytes,
        memory_bytes=record.memory_bytes,
        limit_bytes=record.limit_bytes,
        device_s=record.device_s,
        forward_s=None if took_s is None else took_s[0],
        backward_s=None if took_s is None else took_s[1],
    )


def _rank(
    place: int, name: str, stages: Sequence[int], steps: Sequence[PipelineStep]
) -> RankTimes:
    if not steps:
        return RankTimes(
            rank=place,
            name=name,
            stages=tuple(stages),
            busy_s=None,
            idle_s=None,
            wait_s=None,
            bubble=None,
        )
    num_stages = 1 + max(each.stage for each in steps[0].computations)
    busy_s, idle_s, wait_s = 0.0, 0.0, 0.0
    for step in steps:
        own = step.by_rank[place]
        works_s = sum(each.end_time_s - each.begin_time_s for each in own)
        busy_s += works_s
        idle_s += max(0.0, step.window_s - works_s)
        wait_s += waited_s(own, step.ends_s, step.window, num_stages)
    count = len(steps)
    return RankTimes(
        rank=place,
        name=name,
        stages=tuple(stages),
        busy_s=busy_s / count,
        idle_s=idle_s / count,
        wait_s=min(wait_s, idle_s) / count,
        bubble=idle_s / busy_s if busy_s else None,
    )


def _bubble(ranks: Sequence[RankTimes]) -> float | None:
    busy_s = sum(one.busy_s or 0.0 for one in ranks)
    return sum(one.idle_s or 0.0 for one in ranks) / busy_s if busy_s else None


def _imbalance(took_s: Sequence[tuple[float, float] | None]) -> float | None:
    known = [sum(one) for one in took_s if one is not None]
    mean_s = _mean(known)
    return max(known) / mean_s if mean_s else None


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


def _sentence(times: PipelineTimes) -> str:
    ranks = f"The {len(times.ranks)} ranks of the pipeline"
    if times.bubble is None:
        return f"{ranks} have {len(times.stages)} stages; none of their steps was timed yet."
    told = f"{ranks} are idle for {idle_share(times.bubble):.0%} of a step"
    if times.ideal_bubble is not None:
        told += f"; {times.schedule} over equal stages has {idle_share(times.ideal_bubble):.0%}"
    if times.imbalance is not None and times.imbalance >= _UNEVEN:
        slowest = max(
            times.stages, key=lambda one: (one.forward_s or 0.0) + (one.backward_s or 0.0)
        )
        told += (
            f". Stage {slowest.stage} takes {times.imbalance:.2g} times as long as the mean "
            "stage"
        )
    return f"{told}."
