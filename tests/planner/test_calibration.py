"""A calibration as a file: moved, reloaded, damaged, outdated, mistaken for another."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from pydantic import ValidationError

from smtc_lab.errors import PlannerError
from smtc_lab.planner import intervals
from smtc_lab.planner.calibration.calibration import Calibration
from smtc_lab.planner.calibration.parts import CpuSpeedFact, DevicePoint, WorkerPoint

if TYPE_CHECKING:
    from pathlib import Path

    from smtc_lab.metrics.result import Interval


def measured(value: float) -> Interval:
    return intervals.measured(value, 0.9 * value, 1.1 * value)


@pytest.fixture
def calibration() -> Calibration:
    return Calibration(
        created="2026-11-22T03:00:00+00:00",
        workload="0123456789abcdef",
        entry_point="train.py",
        hyperparameters={"batch_size": 32, "sizes": [1, None]},
        machine={"cpu": "a CPU", "cores": 2.0},
        versions={"torch": "2.9.1"},
        batch_size=32,
        device_points=(DevicePoint(batch_size=32, step_s=measured(0.03)),),
        worker_points=(
            WorkerPoint(
                num_data_workers=1,
                cores=1,
                samples_per_s=measured(800.0),
                cpu_s_per_sample=measured(0.00125),
                path="in_process",
            ),
        ),
        cpu_speed=CpuSpeedFact(value=1.6, kind="estimated", of="a CPU"),
        problems=("Nothing is known of the network.",),
    )


def changed(calibration: Calibration, **fields: Any) -> str:
    return json.dumps(json.loads(calibration.to_json()) | fields)


def test_a_calibration_that_was_moved_is_the_same(
    calibration: Calibration, tmp_path: Path
) -> None:
    path = calibration.save(tmp_path / "here.json").rename(tmp_path / "there.json")

    assert Calibration.load(path, workload=calibration.workload) == calibration
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("version", [0, 3, None, "1"])
def test_another_version_is_refused(calibration: Calibration, version: object) -> None:
    text = changed(calibration, schema_version=version)

    with pytest.raises(PlannerError, match=rf"schema_version={version!r}.*Calibrate again"):
        Calibration.from_json(text)


def test_a_calibration_of_another_workload_is_refused(calibration: Calibration) -> None:
    with pytest.raises(PlannerError, match=r"of another workload .*'batch_size': 32"):
        Calibration.from_json(calibration.to_json(), workload="fedcba9876543210")


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        ({"batch_size": 0}, "batch_size=0 does not fit"),
        ({"device_points": [{"batch_size": 8}]}, r"device_points\.0\.step_s is missing"),
        ({"colour": "red"}, "colour='red' does not fit"),
        ({"workload": ""}, "workload='' says nothing"),
        (
            {"serial_s_per_step": {"value": 3, "low": 4, "high": 5}},
            "outside its interval, low=",
        ),
        ({"bytes_per_sample": -1}, "bytes_per_sample=-1"),
        (
            {"cpu_speed": {"value": 1, "kind": "guessed", "of": "x"}},
            r"cpu_speed\.kind='guessed'",
        ),
    ],
)
def test_damage_is_named(calibration: Calibration, damage: dict[str, Any], says: str) -> None:
    with pytest.raises(PlannerError, match=says):
        Calibration.from_json(changed(calibration, **damage))


@pytest.mark.parametrize("text", ["", "{", "[]", "null", "NaN", '{"schema_version": 1}'])
def test_text_that_is_no_calibration_is_refused(text: str) -> None:
    with pytest.raises(PlannerError, match=r"This calibration (is damaged|has schema_version)"):
        Calibration.from_json(text)


def test_a_number_that_is_not_finite_is_refused(calibration: Calibration) -> None:
    text = calibration.to_json().replace("800.0", "NaN")

    assert text != calibration.to_json()
    with pytest.raises(PlannerError, match="is damaged"):
        Calibration.from_json(text)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(PlannerError, match=r"none\.json cannot be read \(No such file"):
        Calibration.load(tmp_path / "none.json")


def test_a_calibration_that_cannot_be_written_says_where(
    calibration: Calibration, tmp_path: Path
) -> None:
    with pytest.raises(PlannerError, match=r"cannot be written to .*Choose another path"):
        calibration.save(tmp_path / "missing" / "calibration.json")


def test_a_calibration_of_before_names_no_accelerator(calibration: Calibration) -> None:
    older = json.loads(calibration.to_json())
    del older["device_times"]

    assert Calibration.from_json(json.dumps(older)).device_times == {}


def test_a_calibration_is_frozen(calibration: Calibration) -> None:
    with pytest.raises(ValidationError):
        calibration.batch_size = 64  # type: ignore[misc]  # that is what is tried
