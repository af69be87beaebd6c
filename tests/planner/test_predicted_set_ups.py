"""Launches of a comparison, and what a calibration that is kept beside them predicts."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from smtc_lab.catalog.catalog import Catalog
from smtc_lab.metrics.cautions.unlike_prediction import UNLIKE_PREDICTION
from smtc_lab.planner.calibration.calibrate import kept_at
from smtc_lab.planner.calibration.plan import BUSY
from smtc_lab.planner.launching.predicted_set_ups import predicted_set_ups
from smtc_lab.planner.run_prediction import kept_prediction, predict_run
from smtc_lab.spec.cluster import Cluster
from smtc_lab.spec.compiler import TrainingCompilerConfig
from smtc_lab.spec.distribution import Distribution
from smtc_lab.spec.emulation import Emulation
from smtc_lab.spec.job import TrainingJob
from smtc_lab.store.run_folder import RunFolder
from smtc_lab.study.comparison import compare
from smtc_lab.study.comparison.plan import plan_comparison
from smtc_lab.study.watched_run import LaunchWatch
from tests.kit.calibrations import keep_calibration
from tests.kit.records import run_records
from tests.kit.run_folders import write_run_folder

if TYPE_CHECKING:
    from pathlib import Path

    from smtc_lab.metrics.records.records import RunRecords

STEP_S = 0.12


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "train.py"
    path.write_text("print('a script')\n", encoding="utf-8")
    return path


def job_of(script: Path, **changes: Any) -> TrainingJob:
    fields: dict[str, Any] = {
        "entry_point": str(script),
        "cluster": Cluster.parse("alone@a=ml.p3.2xlarge:1"),
        "emulation": Emulation(device_step_time_s=0.02, time_dilation=64),
        "job_name": "train-1",
    }
    return TrainingJob(**(fields | changes))


def launched(root: Path, job: TrainingJob, *, launcher: str = "local") -> RunRecords:
    times_s = [STEP_S * (1 + 0.01 * (number % 3)) for number in range(40)]
    run = replace(run_records(times_s, emulation=job.emulation), job=job)
    folder = write_run_folder(root, run)
    instance = {"rank": None, "num_cpus": 2, "role": "train", "vcpus": 8}
    quota = {"cpu_quota_cores": 8 / 64, "num_workers": 8}
    asked = {"launcher": launcher, "instances": [instance | quota]}
    folder.plan_file.write_text(json.dumps(asked), encoding="utf-8")
    return run


def predicted(root: Path, *runs: RunRecords) -> dict[str, float]:
    found = predicted_set_ups(runs, Catalog.load(), root=root)
    return {label: each.step_time_s.mean for label, each in found.items()}


def test_a_set_up_is_predicted_as_its_run_is_and_nothing_is_kept(
    tmp_path: Path, script: Path
) -> None:
    job = job_of(script)
    known, run = keep_calibration(job, tmp_path), launched(tmp_path, job)
    folder = RunFolder(tmp_path / "train-1")

    (found,) = predicted_set_ups([run], Catalog.load(), root=tmp_path).values()

    assert kept_prediction(folder) is None
    assert found.step_time_s == predict_run(known, folder).prediction.step_time_s
    assert (found.calibrated, found.was_busy) == ("2026-11-22", False)


def test_a_calibration_on_a_busy_machine_is_told(tmp_path: Path, script: Path) -> None:
    job = job_of(script)
    keep_calibration(job, tmp_path, problems=(f"{BUSY}: it got 70 %.",))

    found = predicted_set_ups([launched(tmp_path, job)], Catalog.load(), root=tmp_path)

    assert [each.was_busy for each in found.values()] == [True]


def test_nothing_is_predicted_without_a_calibration_of_the_workload(
    tmp_path: Path, script: Path
) -> None:
    run = launched(tmp_path, job_of(script))
    assert predicted(tmp_path, run) == {}

    keep_calibration(job_of(script, hyperparameters={"work": 3}), tmp_path)

    assert predicted(tmp_path, run) == {}


COMPILED = TrainingCompilerConfig(backend="inductor")


@pytest.mark.parametrize(
    "changes",
    [
        {"compiler_config": COMPILED},
        {"emulation": None},
        {"distribution": Distribution(pipeline=2)},
    ],
    ids=["compiled", "real device", "pipeline"],
)
def test_nothing_is_predicted_of_what_was_not_calibrated(
    tmp_path: Path, script: Path, changes: dict[str, Any]
) -> None:
    keep_calibration(job_of(script), tmp_path)

    assert predicted(tmp_path, launched(tmp_path, job_of(script, **changes))) == {}


def test_nothing_is_predicted_where_compilers_are_compared(
    tmp_path: Path, script: Path
) -> None:
    keep_calibration(job_of(script), tmp_path)
    plain = launched(tmp_path, job_of(script))
    fused = job_of(
        script,
        cluster=Cluster.parse("other@a=ml.p3.2xlarge:1"),
        compiler_config=TrainingCompilerConfig(backend="eager", fused_optimizer=True),
        job_name="train-2",
    )

    assert predicted(tmp_path, plain, launched(tmp_path, fused)) == {}


def test_damaged_calibrations_and_runs_of_elsewhere_predict_nothing(
    tmp_path: Path, script: Path
) -> None:
    job = job_of(script)
    known = keep_calibration(job, tmp_path)
    assert predicted(tmp_path, launched(tmp_path, job, launcher="ray")) == {}
    run = launched(tmp_path, job_of(script, job_name="train-2"))
    assert predicted(tmp_path, run) != {}

    kept_at(known, tmp_path).write_text("torn", encoding="utf-8")

    assert predicted(tmp_path, run) == {}


def test_a_comparison_asks_the_calibration_of_its_script(
    tmp_path: Path, script: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root, job = tmp_path / "runs", job_of(script)
    runs = [launched(root, job_of(script, job_name=f"train-{n}")) for n in (1, 2, 3)]
    monkeypatch.setattr(compare, "_run_all", lambda *_: (runs, []))
    asked = job.model_copy(update={"max_steps": 40})
    plan = plan_comparison([asked], rounds=3, root=root)

    without = compare.carry_out(plan, LaunchWatch(launches=3, progress=None)).comparison
    keep_calibration(job, root)
    outcome = compare.carry_out(plan, LaunchWatch(launches=3, progress=None))

    added = [each for each in outcome.comparison.findings if each not in without.findings]
    assert [each.kind for each in added] == [UNLIKE_PREDICTION]
    assert outcome.comparison.verdict == f"{without.verdict} {added[0].text}"
