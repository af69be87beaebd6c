"""Runs beside what a calibration predicts of them."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from smtc_lab.errors import PlannerError
from smtc_lab.planner.model.predict import predict
from smtc_lab.planner.model.setup import Setup
from smtc_lab.planner.plan import plan
from smtc_lab.planner.run_prediction import (
    RunPrediction,
    compared_runs,
    kept_prediction,
    predict_run,
)
from smtc_lab.planner.workload_hash import workload_hash
from smtc_lab.spec.cluster import Cluster
from smtc_lab.spec.emulation import Emulation
from smtc_lab.spec.job import TrainingJob
from smtc_lab.views.plan.describer import describe_plan
from tests.kit.calibrations import calibration
from tests.kit.quick_script import QUICK_SCRIPT
from tests.kit.records import run_records
from tests.kit.run_folders import set_state, write_run_folder

if TYPE_CHECKING:
    from pathlib import Path

    from smtc_lab.planner.calibration.calibration import Calibration
    from smtc_lab.store.run_folder import RunFolder

STEP_S = 0.12
SETUP = Setup(
    trainer_cores=0.25,
    loader_workers=0.0,
    data_instances=1.0,
    data_cores=1.25,
    data_workers=2.0,
    device_s=0.02,
)


def job_of(script: Path, **changes: Any) -> TrainingJob:
    fields: dict[str, Any] = {
        "entry_point": str(script),
        "cluster": Cluster.parse("a=ml.p3.2xlarge:1,b=ml.c5.9xlarge:1"),
        "hyperparameters": {"work": 3},
        "emulation": Emulation(device_step_time_s=0.02),
        "job_name": "train-1",
    }
    return TrainingJob(**(fields | changes))


def folder_of(root: Path, job: TrainingJob, *, steps: int = 40) -> RunFolder:
    run = replace(run_records([STEP_S] * steps), job=job)
    run = run if steps else replace(run, steps={})
    folder = write_run_folder(root, run, usd_per_hour=5.661)
    instance = {"rank": None, "num_cpus": 2}
    asked = {
        "launcher": "local",
        "usd_per_hour": 5.661,
        "instances": [
            {**instance, "role": "train", "cpu_quota_cores": 0.25, "num_workers": 0},
            {**instance, "role": "data", "cpu_quota_cores": 1.25, "num_workers": 2},
        ],
    }
    folder.plan_file.write_text(json.dumps(asked), encoding="utf-8")
    return folder


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "train.py"
    path.write_text("print('a script')\n", encoding="utf-8")
    return path


@pytest.fixture
def calibrated(script: Path) -> Calibration:
    return calibration(workload=workload_hash(script, {"work": 3}))


def test_an_emulated_run_is_predicted_as_the_scale_model_that_it_is(
    tmp_path: Path, script: Path, calibrated: Calibration
) -> None:
    made = predict_run(calibrated, folder_of(tmp_path, job_of(script)))

    assert made.evidence == "emulated"
    assert made.prediction.step_time_s == predict(calibrated, SETUP).step_time_s
    assert made.step_time_s is not None
    assert made.step_time_s.mean == pytest.approx(STEP_S)
    assert made.error_fraction == pytest.approx(made.prediction.step_time_s.value / STEP_S - 1)


def test_a_fed_script_keeps_its_own_data_workers(
    tmp_path: Path, script: Path, calibrated: Calibration
) -> None:
    own = calibrated.model_copy(update={"script_num_workers": 3})

    made = predict_run(own, folder_of(tmp_path, job_of(script)))

    asked = replace(SETUP, loader_workers=3.0)
    assert made.prediction.step_time_s == predict(own, asked).step_time_s


def test_the_error_is_kept_in_the_folder_of_the_run(
    tmp_path: Path, script: Path, calibrated: Calibration
) -> None:
    folder = folder_of(tmp_path, job_of(script))

    made = predict_run(calibrated, folder)

    kept = folder.prediction_file.read_text(encoding="utf-8")
    assert RunPrediction.model_validate_json(kept) == made


def test_runs_that_were_compared_are_found_again_and_growing_ones_looked_at_again(
    tmp_path: Path, script: Path, calibrated: Calibration
) -> None:
    ended = folder_of(tmp_path / "runs", job_of(script))
    growing = folder_of(tmp_path / "runs", job_of(script, job_name="train-2"), steps=0)
    other = folder_of(tmp_path / "runs", job_of(script, job_name="train-3"))
    set_state(growing, "InProgress")
    for folder in (ended, growing, other):
        predict_run(calibrated, folder)
    other.prediction_file.write_text("torn", encoding="utf-8")
    set_state(growing, "Completed")

    found = compared_runs(calibrated, tmp_path / "runs")

    assert [(run.job_name, run.has_ended) for run in found] == [
        ("train-1", True),
        ("train-2", True),
    ]
    assert kept_prediction(growing) == found[1]
    assert compared_runs(calibration(), tmp_path / "runs") == ()


def test_a_run_without_a_step_is_predicted_and_not_shown_yet(
    tmp_path: Path, script: Path, calibrated: Calibration
) -> None:
    made = predict_run(calibrated, folder_of(tmp_path, job_of(script), steps=0))

    assert made.step_time_s is None
    assert made.error_fraction is None
    info = describe_plan(plan(calibrated, families=["p3"]), (made,))
    assert info.measured == ()


def test_a_plan_shows_the_run_with_its_error_and_cost(
    tmp_path: Path, script: Path, calibrated: Calibration
) -> None:
    made = predict_run(calibrated, folder_of(tmp_path, job_of(script)))

    (shown,) = describe_plan(plan(calibrated, families=["p3"]), (made,)).measured

    assert shown.label == "1 \u00d7 ml.p3.2xlarge + 1 \u00d7 ml.c5.9xlarge"
    assert shown.error_fraction == made.error_fraction
    assert shown.usd_per_1000_steps is not None
    assert shown.usd_per_1000_steps.value == pytest.approx(5.661 * STEP_S / 3.6)


def test_a_run_of_other_hyperparameters_is_refused(
    tmp_path: Path, script: Path, calibrated: Calibration
) -> None:
    folder = folder_of(tmp_path, job_of(script, hyperparameters={"work": 4}))

    with pytest.raises(PlannerError, match=r"'train-1' is of .*'work': 4.* another workload"):
        predict_run(calibrated, folder)


def test_a_run_on_a_real_device_is_not_compared_with_an_emulated_one(
    tmp_path: Path, script: Path, calibrated: Calibration
) -> None:
    folder = folder_of(tmp_path, job_of(script, emulation=None))

    with pytest.raises(PlannerError, match=r"device_step_time_s=None.*emulated_device_s=0.01"):
        predict_run(calibrated, folder)


def test_a_run_of_another_place_is_not_compared(
    tmp_path: Path, script: Path, calibrated: Calibration
) -> None:
    folder = folder_of(tmp_path, job_of(script))
    folder.plan_file.write_text(json.dumps({"launcher": "elsewhere"}), encoding="utf-8")

    with pytest.raises(PlannerError, match="launcher 'elsewhere'"):
        predict_run(calibrated, folder)


def test_the_best_cluster_is_launched_and_compared_with_its_prediction(
    tmp_path: Path, script: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SMTC_LAB_HOME", str(tmp_path / "home"))
    script.write_text(QUICK_SCRIPT, encoding="utf-8")
    known = calibration(
        workload=workload_hash(script, {}), entry_point=str(script), hyperparameters={}
    )
    made = plan(known, steps=30, families=["p3"])

    run = made.best.launch()
    run.wait(60)
    compared = made.compare_with(run)

    assert compared.cluster == made.best.candidate.cluster
    assert compared.evidence == "emulated"
    assert compared.has_ended
    assert compared.step_time_s is not None
    predicted_s = compared.prediction.step_time_s.value
    assert compared.error_fraction == pytest.approx(predicted_s / compared.step_time_s.mean - 1)
    assert kept_prediction(run.folder) == compared
    (shown,) = describe_plan(made, compared_runs(known)).measured
    assert shown.job_name == run.job_name
