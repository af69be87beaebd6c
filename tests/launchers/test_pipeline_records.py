"""What a launched run keeps of its pipeline: the cut, and who computed what when."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from smtc_lab.errors import RunFailedError, StoreError
from smtc_lab.metrics.columns import STEP
from smtc_lab.metrics.measured_launch import measured_launch
from smtc_lab.metrics.pipeline.times import PipelineTimes
from smtc_lab.metrics.records.pipeline_records import StageRecord
from smtc_lab.spec.distribution import Distribution
from smtc_lab.spec.emulation import Emulation
from smtc_lab.store.tables import TABLES
from smtc_lab.store.writer import open_record_file
from tests.kit.pipelines import stage_record
from tests.launchers.test_pipeline_runs import SCRIPT

if TYPE_CHECKING:
    from collections.abc import Callable

    from smtc_lab.launchers.run import Run
    from smtc_lab.metrics.pipeline.times import Computation, TimedStep
    from smtc_lab.spec.job import TrainingJob

STEP_S = 0.24
CLOCKS_S = 5e-3


def by_place(step: TimedStep) -> dict[tuple[str, int, int], Computation]:
    return {(one.kind, one.stage, one.microbatch): one for one in step.computations}


@pytest.mark.timeout(240)
def test_a_run_keeps_its_cut_and_the_timeline_of_an_emulated_pipeline(
    make_job: Callable[..., TrainingJob], start: Callable[..., Run]
) -> None:
    job = make_job(
        SCRIPT,
        cluster="here=local",
        emulation=Emulation(device_step_time_s=STEP_S),
        distribution=Distribution(pipeline=2, microbatches=4, pins={"4": 0}),
    )
    run = start(job)
    run.wait(timeout_s=100)
    times = run.pipeline

    assert times is not None
    assert (times.evidence, times.schedule, times.microbatches) == ("emulated", "1f1b", 4)
    assert times.ideal_bubble == 0.25
    first, last = times.stages
    assert (first.first_module, last.last_module) == ("0", "6")
    assert first.flops_fraction + last.flops_fraction == pytest.approx(1.0)
    assert first.parameter_bytes == 4 * (288 + 2 * 1056), "as module 4 was pinned"
    assert last.parameter_bytes == 4 * 132
    assert (first.sent_bytes, last.sent_bytes) == (4 * 2 * 32, 0)
    assert [rank.name for rank in times.ranks] == ["algo-1-rank0", "algo-1-rank1"]
    assert times.num_steps == 4, "five of eight steps are timed, and the first warms up"
    assert PipelineTimes.model_validate_json(times.to_json()) == times

    for stage in times.stages:
        declared_s = STEP_S * stage.flops_fraction / 4
        assert stage.device_s == pytest.approx(declared_s)
        assert stage.forward_s is not None
        assert stage.backward_s is not None
        assert stage.forward_s >= declared_s / 3 - 1e-6
        assert stage.backward_s >= declared_s * 2 / 3 - 1e-6
    for step in times.steps:
        computed = by_place(step)
        assert len(computed) == 2 * 2 * 4
        for part in range(4):  # on one clock: nothing is computed before what it needs
            assert computed["forward", 0, part].end_s <= computed["forward", 1, part].begin_s
            assert computed["backward", 1, part].end_s <= computed["backward", 0, part].begin_s
    assert times.expected is not None
    assert not times.expected.is_scaled
    assert len(times.expected.computations) == 2 * 2 * 4
    assert times.expected.step_s >= STEP_S / 2, "no two ranks compute it sooner"
    assert all(step.window_s >= times.expected.step_s - CLOCKS_S for step in times.steps)
    for rank in times.ranks:
        assert rank.busy_s is not None
        assert rank.idle_s is not None
        assert rank.wait_s is not None
        assert rank.wait_s <= rank.idle_s

    launch = measured_launch(run.records())
    assert launch is not None
    shares = sum(one.flops_fraction for one in times.stages) / 2
    assert launch.steps[STEP["device_time_s"]] == pytest.approx(STEP_S * shares)

    path = run.folder.rank_records("algo-1", 1)
    connection = open_record_file(path)
    table = TABLES[StageRecord]
    connection.execute(table.insert, table.values(stage_record(stage=7, num_stages=2)))
    connection.close()
    with pytest.raises(StoreError, match=r"is damaged \(stage 7 of 2\)"):
        run.pipeline  # noqa: B018  it is read


@pytest.mark.timeout(240)
def test_a_stage_that_no_emulated_device_can_hold_is_refused_with_what_would_fit(
    make_job: Callable[..., TrainingJob], start: Callable[..., Run]
) -> None:
    job = make_job(
        SCRIPT,
        cluster="here=local",
        distribution=Distribution(pipeline=2, microbatches=4, limit_bytes=20_000.0),
    )
    run = start(job)

    with pytest.raises(
        RunFailedError,
        match=r"No cut into 2 stages fits 20,000 bytes: stage .* bytes too large",
    ):
        run.wait(timeout_s=100)
    assert run.pipeline is None
