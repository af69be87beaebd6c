"""What a view is told of a pipeline: its stages, and what its ranks did without a gap."""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from smtc_lab.metrics.pipeline.timed import pipeline_times
from smtc_lab.metrics.pipeline.times import Computation, PipelineTimes, TimedStep
from smtc_lab.spec.distribution import Distribution
from smtc_lab.store.writer import RecordWriter
from smtc_lab.views.run.pipeline.info import PipelineInfo
from smtc_lab.views.run.pipeline.spans import RankSpan, spans_of
from smtc_lab.views.run.pipeline.told import MOST_SPANS, pipeline_info
from smtc_lab.views.run.snapshot import take_snapshot
from tests.kit.pipelines import gpipe_records
from tests.kit.records import run_records
from tests.kit.run_folders import write_run_folder

if TYPE_CHECKING:
    from collections.abc import Sequence

    from smtc_lab.store.run_folder import RunFolder

FIXTURES = Path(__file__).parents[2] / "fixtures"


def times_of(seconds: Sequence[float], microbatches: int) -> PipelineTimes:
    records = gpipe_records(seconds=seconds, microbatches=microbatches)
    times = pipeline_times(records, evidence="measured")
    assert times is not None
    return times


@given(
    seconds=st.lists(st.floats(0.01, 0.5), min_size=2, max_size=4),
    microbatches=st.integers(1, 5),
)
def test_ranks_compute_or_wait_and_nothing_is_left_between(
    seconds: list[float], microbatches: int
) -> None:
    times = times_of(seconds, max(microbatches, len(seconds)))
    step = times.steps[-1]

    by_rank: dict[int, list[RankSpan]] = defaultdict(list)
    for span in spans_of(step, times.stages):
        by_rank[span.rank].append(span)

    assert sorted(by_rank) == list(range(len(seconds)))
    for rank, spans in by_rank.items():
        assert spans[0].begin_s == pytest.approx(0, abs=1e-5)
        assert spans[-1].end_s == pytest.approx(step.window_s)
        for one, after in pairwise(spans):
            assert after.begin_s == pytest.approx(one.end_s, abs=1e-5)
        waits_s = sum(each.end_s - each.begin_s for each in spans if each.kind == "wait")
        assert waits_s == pytest.approx(times.ranks[rank].wait_s, abs=1e-5)


def test_the_step_that_is_drawn_is_told_beside_the_mean_and_others() -> None:
    times = times_of([0.1, 0.1], 2)
    first, last = times.steps
    shown = (
        first.model_copy(update={"step": 3, "window_s": 0.5}),
        last.model_copy(update={"step": 7, "window_s": 0.3}),
        last.model_copy(update={"step": 9, "window_s": 0.2}),
    )
    means = {"steps": shown, "num_steps": 40, "window_s": 0.36, "median_step": 7}
    times = times.model_copy(update=means)

    told = pipeline_info(times)

    assert told.sentence == (
        f"{times.sentence} From its first computation to its last a step takes 0.36 s, the "
        "mean of 40 steps."
    )
    assert told.timeline is not None
    assert (told.timeline.step, told.timeline.window_s) == (7, 0.3)
    assert [one.step for one in told.other_steps] == [3, 9]
    older = pipeline_info(times.model_copy(update={"median_step": None}))
    assert older.timeline is not None
    assert older.timeline.step == 9, "the newest, as it was told before"
    undrawn = pipeline_info(times.model_copy(update={"steps": (), "expected": None}))
    assert undrawn.sentence == times.sentence
    assert (undrawn.timeline, undrawn.other_steps, undrawn.predicted) == (None, (), None)


def test_what_the_cut_expected_has_the_same_computations() -> None:
    info = pipeline_info(times_of([0.1, 0.3], 4))

    assert info.predicted is not None
    assert info.is_scaled
    assert info.timeline is not None
    assert info.predicted.window_s == pytest.approx(info.timeline.window_s)
    boxes = zip(info.timeline.kind, info.timeline.stage, info.timeline.microbatch, strict=True)
    assert set(
        zip(info.predicted.kind, info.predicted.stage, info.predicted.microbatch, strict=True)
    ) == {box for box in boxes if box[1] >= 0}


def test_other_steps_are_told_while_there_is_room_for_them() -> None:
    info = pipeline_info(times_of([0.01] * 4, 100))

    assert info.timeline is not None
    assert info.predicted is not None
    assert len(info.timeline.rank) > MOST_SPANS / 2
    assert info.other_steps == ()
    assert len(info.predicted.rank) == 2 * 4 * 100


def test_what_was_computed_and_has_not_come_is_communication() -> None:
    times = times_of([0.1, 0.1], 2)
    step = TimedStep(
        step=0,
        begin_time_s=0.0,
        window_s=0.35,
        computations=(
            Computation(stage=0, microbatch=0, kind="forward", begin_s=0.0, end_s=0.1),
            Computation(stage=1, microbatch=0, kind="forward", begin_s=0.15, end_s=0.25),
            Computation(stage=0, microbatch=1, kind="forward", begin_s=0.25, end_s=0.35),
        ),
    )

    assert spans_of(step, times.stages) == [
        RankSpan(0.0, 0.1, 0, "forward", 0, 0),
        RankSpan(0.0, 0.1, 1, "wait"),
        RankSpan(0.1, 0.15, 1, "transfer"),
        RankSpan(0.1, 0.25, 0, "transfer"),
        RankSpan(0.15, 0.25, 1, "forward", 1, 0),
        RankSpan(0.25, 0.35, 0, "forward", 0, 1),
        RankSpan(0.25, 0.35, 1, "wait"),
    ]


def test_a_timeline_of_very_many_boxes_is_cut_and_says_so() -> None:
    info = pipeline_info(times_of([0.01] * 4, 400))

    assert info.timeline is not None
    assert len(info.timeline.rank) == MOST_SPANS
    assert info.timeline.left_out >= 2 * 4 * 400 - MOST_SPANS


def test_what_was_expected_of_a_stage_stands_beside_what_it_took() -> None:
    info = pipeline_info(times_of([0.1, 0.3], 4))

    assert [stage.flops_fraction for stage in info.stages] == pytest.approx([0.25, 0.75])
    assert [stage.time_fraction for stage in info.stages] == pytest.approx([0.25, 0.75])
    assert info.stages[0].modules == "layers.0 … layers.1"
    assert [(rank.rank, rank.host) for rank in info.ranks] == [(0, "algo-1"), (1, "algo-1")]
    assert all(
        rank.busy_fraction is not None and 0 < rank.busy_fraction < 1 for rank in info.ranks
    )


def written(root: Path) -> RunFolder:
    """Write a run whose two trainers are the stages of a pipeline."""
    run = run_records(cluster="here=local:1", num_ranks=2)
    values = {**dict(run.job), "distribution": Distribution(pipeline=2, microbatches=4)}
    run = replace(run, job=type(run.job)(**values))
    folder = write_run_folder(root, run)
    records = gpipe_records(seconds=[0.1, 0.2], microbatches=4)
    for name, stages in records.stages.items():
        with RecordWriter(folder.records / f"{name}.sqlite") as writer:
            for record in (*stages, *records.microbatches[name]):
                writer.append(record)
    return folder


def test_a_saved_run_tells_its_pipeline(tmp_path: Path) -> None:
    told = take_snapshot(written(tmp_path)).info.as_dict()["pipeline"]

    assert told["schedule"] == "gpipe"
    assert len(told["stages"]) == 2
    assert told["timeline"]["step"] == 2
    json.dumps(told, allow_nan=False)


def test_a_run_without_a_pipeline_tells_none(tmp_path: Path) -> None:
    folder = write_run_folder(tmp_path, run_records(cluster="here=local:1"))

    assert take_snapshot(folder).info.pipeline is None


def test_the_browsers_example_is_what_we_tell() -> None:
    example = json.loads((FIXTURES / "pipeline_info.json").read_text(encoding="utf-8"))
    told = TypeAdapter(PipelineInfo)

    assert told.dump_python(told.validate_python(example), mode="json") == example
