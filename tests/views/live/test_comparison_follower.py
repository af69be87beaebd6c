"""Comparisons of real runs, followed while they grow and when they have ended."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from smtc_lab.follow.stream import Stream
from smtc_lab.machine.processes import send_signal
from smtc_lab.metrics.result import Interval
from smtc_lab.planner.run_prediction import predict_run
from smtc_lab.planner.workload_hash import workload_hash
from smtc_lab.spec.compiler import TrainingCompilerConfig
from smtc_lab.study.comparison.comparison_run import ComparisonRun, launch_comparison
from smtc_lab.study.folder import read_process
from smtc_lab.views.comparison.follower import ComparisonFollower
from smtc_lab.views.comparison.kind import COMPARISON
from smtc_lab.views.live.foretold import Foretold, keep_foretold
from smtc_lab.views.live.part_use import PartUse
from smtc_lab.views.study.describer import StudyDescriber
from smtc_lab.views.study.snapshot import study_snapshot
from smtc_lab.views.study.words import study_text
from smtc_lab.views.text import format as fmt
from smtc_lab.views.text.emulated import of_run
from tests.kit.calibrations import calibration
from tests.kit.real_runs import HOSTILE_NAME, paced_pair
from tests.kit.runs import processes_after, wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from smtc_lab.spec.job import TrainingJob
    from tests.kit.real_runs import CopyComparison


class Told:
    """Keeps the messages that a stream sends."""

    def __init__(self) -> None:
        self.messages: list[dict[str, Any]] = []

    def __call__(self, content: dict[str, Any], buffers: list[bytes]) -> None:
        columns = len(content["columns"])
        rows = np.frombuffer(buffers[0]).reshape(columns, -1)
        self.messages.append(
            {**content, "rows": dict(zip(content["columns"], rows, strict=True))}
        )

    def table(self, name: str) -> dict[str, Any]:
        """Return the columns of a table, as a browser has them in the end."""
        columns: dict[str, Any] = {}
        for message in self.messages:
            if message["table"] == name:
                if message["type"] == "reset":
                    columns = {}
                for column, values in message["rows"].items():
                    columns[column] = np.append(columns.get(column, []), values)
        return columns


def follow(run: ComparisonRun, told: Told) -> ComparisonFollower:
    follower = ComparisonFollower(run, Stream(told))
    wait_until(lambda: follower.look() or follower.is_over, what="a first look")
    return follower


@pytest.fixture
def ended(ended_comparison: CopyComparison) -> ComparisonRun:
    return ended_comparison()


@pytest.fixture
def endless(tmp_path: Path) -> Iterator[ComparisonRun]:
    run = launch_comparison(paced_pair(tmp_path, steps=100_000), root=tmp_path / "runs")
    wait_until(lambda: run.progress().steps > 0, what="the first step")
    yield run
    run.stop()


def follow_to_end(run: ComparisonRun, told: Told) -> ComparisonFollower:
    follower = follow(run, told)
    wait_until(lambda: follower.look() and follower.is_over, what="the end")
    follower._stream.flush()
    return follower


def test_each_launch_of_an_ended_comparison_has_its_tables(ended: ComparisonRun) -> None:
    told = Told()

    follow_to_end(ended, told)

    for launch in range(4):
        assert told.table(f"{launch}/steps")["step"].tolist() == list(range(30))
        assert np.all(np.diff(told.table(f"{launch}/system:algo-1")["time_s"]) >= 0)


def test_the_ratio_narrows_to_what_the_result_says(ended: ComparisonRun) -> None:
    told = Told()

    follower = follow_to_end(ended, told)

    ratio = told.table("ratio:1")
    comparison = ended.wait().comparison
    speedup = comparison.speedup
    assert speedup is not None
    assert ratio["mean"][-1] == pytest.approx(speedup.mean)
    assert np.all(ratio["low"] <= ratio["mean"])
    assert np.all(ratio["mean"] <= ratio["high"])
    assert np.all(np.diff(ratio["time_s"]) > 0)
    assert ratio["steps"][-1] == sum(cluster.steps for cluster in comparison.clusters)
    assert len(ratio["mean"]) > 10
    price_ratio = follower.prices[1] / follower.prices[0]  # type: ignore[operator]
    assert ratio["cost"] == pytest.approx(price_ratio / ratio["mean"])
    assert np.all(ratio["cost_low"] <= ratio["cost"])


def test_the_description_of_an_ended_comparison_is_its_verdict(ended: ComparisonRun) -> None:
    follower = follow_to_end(ended, Told())

    info = StudyDescriber(COMPARISON, follower).describe()

    comparison = ended.wait().comparison
    assert info.sentence == comparison.verdict
    assert info.is_verdict
    assert info.ended
    assert info.evidence == "emulated"
    assert info.scale == of_run(ended.request.jobs[0])
    assert "of it took" in info.scale
    assert [set_up.label for set_up in info.set_ups] == ["slow", HOSTILE_NAME]
    left_out = {
        name: steps
        for cluster in comparison.clusters
        for name, steps in zip(cluster.runs, cluster.warm_up_steps, strict=True)
    }
    assert {one.job_name: one.warm_up_steps for one in info.launched} == left_out
    assert [(one.set_up, one.round, one.steps) for one in info.launched] == [
        (0, 1, 30),
        (1, 1, 30),
        (1, 2, 30),
        (0, 2, 30),
    ]
    rows = {row.label: row.cells for row in info.rows}
    assert "numbers are" not in rows  # they are alike, and the sentence has the word beside it
    assert info.evidence == "emulated"
    assert "  numbers are: emulated\n" in study_text(info)
    assert rows["speed-up"][0] == ("baseline",)
    assert any("fewer than 3 launches" in each.sentence for each in info.findings)
    assert info.notes[-1].startswith("Prices: ml.p3.2xlarge 3.825 USD/h historical")
    assert json.loads(json.dumps(info.to_json()))["code"] == info.code
    compile(info.code, "cell", "exec")


def test_what_was_predicted_of_a_launch_is_told_of_its_set_up(ended: ComparisonRun) -> None:
    slow = ended.request.jobs[0]
    workload = workload_hash(slow.entry_point, slow.hyperparameters)
    calibrated = calibration(workload=workload, emulated_device_s=None)
    follower = follow_to_end(ended, Told())
    (launch, _) = [launch for launch in follower.followed if launch.set_up == 0]

    made = predict_run(calibrated, launch.follower.folder)

    told = [
        one.predicted_step_time_s
        for one in StudyDescriber(COMPARISON, follower).describe().set_ups
    ]
    step = made.prediction.step_time_s
    assert told == [step, None]


def test_what_a_form_had_predicted_is_told_beside_what_comes(
    growing_comparison: ComparisonRun,
) -> None:
    follower = follow(growing_comparison, Told())
    describer = StudyDescriber(COMPARISON, follower)
    assert [each.foretold for each in describer.describe().set_ups] == [None, None]
    step = Interval(mean=0.002, low=0.001, high=0.003, level=0.8, evidence="predicted")
    foretold = Foretold(step_time_s=step, usd_per_1000_steps=None, use=PartUse(device=0.5))

    keep_foretold(growing_comparison.folder, [None, foretold])

    slow, fast = describer.describe().set_ups
    assert (slow.foretold, fast.foretold) == (None, foretold)
    assert fast.predicted_step_time_s == step


def test_who_comes_late_sees_the_ratio_from_its_begin(
    growing_comparison: ComparisonRun,
) -> None:
    told = Told()
    follower = follow(growing_comparison, told)

    wait_until(lambda: follower.look() and follower.own_tables[0].num_rows, what="a ratio")
    follower._stream.flush()

    assert len(told.table("ratio:1")["mean"]) > 10


def test_a_table_that_is_kept_while_it_goes_on_tells_what_its_sentence_tells(
    growing_comparison: ComparisonRun,
) -> None:
    kept = study_snapshot(COMPARISON, growing_comparison)

    assert kept.info.sentence.startswith("So far, after 2 of 3 rounds: ")
    assert kept.comparison is not None
    rows = {row.label: row.cells for row in kept.info.rows}
    speedup = kept.comparison.speedup
    assert speedup is not None
    # of two launches on a machine that is busy, an interval may hold 1
    unseen = ("no difference seen",) if speedup.low <= 1 <= speedup.high else ()
    assert rows["speed-up"][1] == (fmt.times_interval(speedup), *unseen)
    # of an emulation, only the steps are in cluster time
    assert all(cell[0].startswith("steps $0.0") for cell in rows["cost so far"])


def test_a_description_before_the_first_look_is_right_too(ended: ComparisonRun) -> None:
    info = StudyDescriber(COMPARISON, ComparisonFollower(ended, Stream(Told()))).describe()

    assert info.is_verdict
    assert info.sentence == ended.wait().comparison.verdict


def test_complete_rounds_tell_when_a_compiler_has_earned_its_overhead(
    growing_comparison: ComparisonRun,
) -> None:
    given = growing_comparison.request.jobs
    eager = [
        TrainingCompilerConfig(backend="eager", keep_memory=keeps) for keeps in (False, True)
    ]
    configs = {job.cluster.label: config for job, config in zip(given, eager, strict=True)}

    def compiled(job: TrainingJob) -> TrainingJob:
        return job.model_copy(update={"compiler_config": configs[job.cluster.label]})

    request = replace(growing_comparison.request, jobs=tuple(map(compiled, given)))
    growing_comparison.folder.request_file.write_text(request.to_json(), encoding="utf-8")
    for run in growing_comparison.runs:
        run.folder.job_file.write_text(compiled(run.job).to_json(), encoding="utf-8")

    kept = study_snapshot(COMPARISON, ComparisonRun(growing_comparison.folder))

    rows = {row.label: row.cells for row in kept.info.rows}
    assert len(rows["break-even step"]) == len(rows["first steps' overhead (s)"]) == 2


def test_without_a_complete_round_nothing_is_claimed_and_its_loss_is_told_with_its_reason(
    endless: ComparisonRun,
) -> None:
    told = Told()
    follower = follow(endless, told)
    describer = StudyDescriber(COMPARISON, follower)

    info = describer.describe()

    assert info.sentence.startswith(
        "Too early to tell: launch 1 of 6 (slow) runs, and no round"
    )
    assert not info.is_verdict
    assert follower.comparison is None
    assert told.table("ratio:1").get("mean", np.array([])).size == 0
    rows = {row.label: row.cells for row in info.rows}
    assert rows["speed-up"] == (("baseline",), ("unknown",))
    assert rows["s/step"][1] == ("unknown",)

    process = read_process(endless.folder)
    assert process is not None

    send_signal([process[0]], 9)

    wait_until(lambda: follower.look() and follower.is_over, what="the end")
    info = StudyDescriber(COMPARISON, follower).describe()
    assert info.ended
    assert info.state == "Failed"
    assert "gone without a last word" in info.reason
    assert info.sentence == "There is no verdict: no round was completed."
    assert [processes_after(run.folder.path) for run in endless.runs] == [{}]
