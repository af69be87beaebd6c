"""The numbers of a pipeline, from schedules whose bubble is known."""

from __future__ import annotations

from dataclasses import replace

import pytest

from smtc_lab.metrics.pipeline.bubble import ideal_bubble
from smtc_lab.metrics.pipeline.timed import pipeline_times
from smtc_lab.metrics.pipeline.times import PipelineTimes
from smtc_lab.metrics.records.pipeline_records import MicrobatchRecord, PipelineRecords
from tests.kit.pipelines import gpipe_records, stage_record


def times_of(records: PipelineRecords) -> PipelineTimes:
    times = pipeline_times(records, evidence="measured")
    assert times is not None
    return times


@pytest.mark.parametrize(("ranks", "microbatches"), [(2, 4), (4, 8), (4, 4), (1, 3)])
def test_the_bubble_of_equal_stages_is_that_of_the_formula(
    ranks: int, microbatches: int
) -> None:
    times = times_of(gpipe_records(seconds=[0.1] * ranks, microbatches=microbatches))

    assert times.bubble == pytest.approx((ranks - 1) / microbatches)
    assert times.ideal_bubble == pytest.approx(times.bubble)
    assert times.imbalance == pytest.approx(1.0)
    assert times.window_s == pytest.approx(0.3 * (microbatches + ranks - 1))
    for rank in times.ranks:
        assert rank.busy_s == pytest.approx(0.3 * microbatches)
        assert rank.idle_s == pytest.approx(times.window_s - rank.busy_s)
        assert rank.wait_s == pytest.approx(rank.idle_s), "nothing but other ranks took time"


def test_a_slow_stage_makes_the_others_wait_and_is_named() -> None:
    times = times_of(gpipe_records(seconds=[0.1, 0.3, 0.1], microbatches=8))

    assert times.imbalance == pytest.approx(0.3 / (0.5 / 3))
    busy = [rank.busy_s for rank in times.ranks]
    assert busy[1] == max(busy)
    assert times.ranks[1].bubble is not None
    assert times.bubble is not None
    assert times.ranks[1].bubble < times.bubble
    assert "Stage 1 takes 1.8 times as long as the mean stage." in times.sentence


def test_transfer_is_idle_time_that_nobody_is_waited_for_in() -> None:
    records = gpipe_records(seconds=[0.1, 0.1], microbatches=2)
    first, second = records.microbatches.values()
    late = [
        replace(each, begin_time_s=each.begin_time_s + 0.05, end_time_s=each.end_time_s + 0.05)
        for each in second
    ]
    times = times_of(
        replace(
            records, microbatches=dict(zip(records.microbatches, (first, late), strict=True))
        )
    )

    rank = times.ranks[1]
    assert rank.idle_s is not None
    assert rank.wait_s is not None
    assert rank.idle_s - rank.wait_s == pytest.approx(0.05)


def test_the_first_timed_step_warms_up_and_does_not_count() -> None:
    times = times_of(gpipe_records(seconds=[0.1, 0.1], microbatches=2, steps=4))

    assert times.num_steps == 3
    assert [step.step for step in times.steps] == [1, 2, 3]


def test_a_step_that_a_rank_is_still_recording_is_left_out() -> None:
    records = gpipe_records(seconds=[0.1, 0.1], microbatches=2, steps=3)
    records.microbatches["algo-1-rank1"].pop()

    assert times_of(records).num_steps == 1


def test_a_step_that_was_started_again_counts_as_it_was_the_last_time() -> None:
    records = gpipe_records(seconds=[0.1, 0.1], microbatches=2)
    again = {
        name: [
            replace(
                each, begin_time_s=each.begin_time_s + 5e3, end_time_s=each.end_time_s + 5e3
            )
            for each in told
        ]
        for name, told in records.microbatches.items()
    }
    twice = {name: told + again[name] for name, told in records.microbatches.items()}

    assert times_of(replace(records, microbatches=twice)).window_s == pytest.approx(0.9)


def test_a_cut_that_was_not_told_by_all_ranks_is_none_yet() -> None:
    records = gpipe_records(seconds=[0.1, 0.1], microbatches=2)
    del records.stages["algo-1-rank1"]

    assert pipeline_times(records, evidence="measured") is None
    assert pipeline_times(None, evidence="measured") is None


def test_a_pipeline_without_a_timed_step_has_stages_and_no_times() -> None:
    records = gpipe_records(seconds=[0.1, 0.1], microbatches=2, steps=0)
    times = times_of(records)

    assert [stage.forward_s for stage in times.stages] == [None, None]
    assert times.bubble is None
    assert times.ideal_bubble == 0.5
    assert times.steps == ()
    assert times.sentence.endswith("none of their steps was timed yet.")


def test_of_replicas_the_first_is_told() -> None:
    first = gpipe_records(seconds=[0.1, 0.1], microbatches=2)
    other = gpipe_records(seconds=[0.3, 0.3], microbatches=2, first_rank=2)
    both = PipelineRecords(
        stages={
            **{f"algo-2-rank{n}": told for n, told in enumerate(other.stages.values(), 2)},
            **first.stages,
        },
        microbatches={
            **{
                f"algo-2-rank{n}": told for n, told in enumerate(other.microbatches.values(), 2)
            },
            **first.microbatches,
        },
    )
    times = times_of(both)

    assert times.replicas == 2
    assert [rank.name for rank in times.ranks] == ["algo-1-rank0", "algo-1-rank1"]
    assert times.window_s == pytest.approx(0.9)


def test_timelines_are_bounded_and_come_back_from_json() -> None:
    times = times_of(gpipe_records(seconds=[0.1, 0.1], microbatches=4, steps=40))

    assert times.median_step in range(2, 34)
    assert [step.step for step in times.steps] == [1, times.median_step, *range(34, 40)]
    assert PipelineTimes.model_validate_json(times.to_json()) == times
    first = times.steps[0].computations[0]
    assert (first.stage, first.kind, first.begin_s) == (0, "forward", 0.0)


def test_the_step_in_the_middle_by_its_time_is_told() -> None:
    records = gpipe_records(seconds=[0.1, 0.1], microbatches=2, steps=4)
    longer_s = {1: 0.5, 2: 0.1, 3: 0.3}
    last = max(each.begin_time_s for each in records.microbatches["algo-1-rank0"][:4])
    records.microbatches["algo-1-rank0"] = [
        replace(each, end_time_s=each.end_time_s + longer_s.get(each.step, 0.0))
        if (each.begin_time_s - last) % 100 == pytest.approx(0, abs=1e-3)
        else each
        for each in records.microbatches["algo-1-rank0"]
    ]

    times = times_of(records)

    assert times.median_step == 3
    assert [step.window_s for step in times.steps] == pytest.approx([1.4, 1.0, 1.2])


def test_a_step_that_goes_as_the_cut_expects_is_its_expectation() -> None:
    times = times_of(gpipe_records(seconds=[0.1, 0.3, 0.1], microbatches=4))

    assert times.expected is not None
    assert times.expected.is_scaled, "no device declares a time"
    assert times.expected.step_s == pytest.approx(times.window_s)
    measured = {
        (one.kind, one.stage, one.microbatch): (one.begin_s, one.end_s)
        for one in times.steps[0].computations
    }
    for one in times.expected.computations:
        key = one.kind, one.stage, one.microbatch
        assert (one.begin_s, one.end_s) == pytest.approx(measured[key], abs=1e-4)


def test_an_emulated_device_is_expected_to_take_what_it_declares() -> None:
    records = gpipe_records(seconds=[0.1, 0.1], microbatches=4, device_s=0.15)

    expected = times_of(records).expected

    assert expected is not None
    assert not expected.is_scaled
    assert expected.step_s == pytest.approx(0.15 * (4 + 2 - 1)), "(m + p - 1) microbatches"


def test_a_declared_network_is_expected_to_take_its_time() -> None:
    records = gpipe_records(seconds=[0.1, 0.1], microbatches=4, device_s=0.15, send_s=0.02)

    expected = times_of(records).expected

    assert expected is not None
    first = next(one for one in expected.computations if one.stage == 1)
    assert first.begin_s == pytest.approx(0.05 + 0.02)
    assert expected.step_s == pytest.approx(0.15 * 5 + 2 * 0.02)


def test_of_an_order_that_no_schedule_has_nothing_is_expected() -> None:
    records = gpipe_records(seconds=[0.1, 0.1], microbatches=1)
    first = records.microbatches["algo-1-rank0"]
    records.microbatches["algo-1-rank0"] = [
        replace(one, kind="backward" if one.kind == "forward" else "forward") for one in first
    ]

    times = times_of(records)

    assert times.expected is None
    assert times.median_step is not None


def test_schedules_that_fill_gaps_have_no_formula() -> None:
    assert ideal_bubble("interleaved1f1b", ranks=4, stages=8, microbatches=8) == 3 / 16
    assert ideal_bubble("zbvzerobubble", ranks=4, stages=8, microbatches=8) is None


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"stage": 3, "num_stages": 2}, "stage 3 of 2"),
        ({"num_stages": 10**9, "num_ranks": 10**9}, "stage 0 of 1000000000"),
        ({"place": 1}, "rank 1 of 1 with 1 stages"),
        ({"microbatches": 0}, "below 0"),
        ({"limit_bytes": -1.0}, "below 0"),
        ({"flops_fraction": 1.5}, "outside 0 to 1"),
    ],
)
def test_a_stage_that_cannot_be_is_told(fields: dict[str, object], said: str) -> None:
    assert said in stage_record(**fields).problem
    assert stage_record().problem == ""


def test_a_computation_that_cannot_be_is_told() -> None:
    good = MicrobatchRecord(
        step=0, stage=0, microbatch=0, kind="forward", begin_time_s=1.0, end_time_s=2.0
    )

    assert good.problem == ""
    assert "kind" in replace(good, kind="sideways").problem
    assert "below 0" in replace(good, microbatch=-1).problem
    assert "ends before" in replace(good, end_time_s=0.5).problem
