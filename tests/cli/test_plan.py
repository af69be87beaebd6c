from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from smtc_lab.planner.plan import Plan
from smtc_lab.planner.workload_hash import workload_hash
from tests.kit.calibrations import calibration

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    SmtcLab = Callable[..., Any]


@pytest.fixture
def script(home: Path) -> Path:
    path = home / "train.py"
    path.write_text("print('a script')\n", encoding="utf-8")
    return path


@pytest.fixture
def calibrated(home: Path, script: Path) -> Path:
    workload = workload_hash(script, {"work": 3})
    return calibration(workload=workload, entry_point=str(script)).save(home / "c.json")


def test_a_plan_is_printed_written_and_drawn(
    smtc_lab: SmtcLab, home: Path, script: Path, calibrated: Path
) -> None:
    said = smtc_lab(
        *("plan", "--calibration", calibrated, "-p", "work=3", "--steps", "5000"),
        *("--budget", "60", "--families", "p3,c5", "--price", "ml.p3.2xlarge=0.428@2026-11-01"),
        *("--json", home / "plan.json", "--figure", home / "plan.png", script),
    )

    assert said.exit_code == 0, said.err
    assert said.err == ""
    assert "5,000 steps, at most $60.00/h, families p3, c5" in said.out
    made = Plan.from_json((home / "plan.json").read_bytes())
    assert made.settings.prices == {"ml.p3.2xlarge": (0.428, "2026-11-01")}
    assert made.best.candidate.price_kind == "user"
    assert (home / "plan.png").read_bytes().startswith(b"\x89PNG")


def test_a_script_is_calibrated_where_no_calibration_is_given(
    smtc_lab: SmtcLab, script: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from smtc_lab.planner.calibration import calibrate as module
    from smtc_lab.study.watched_run import Progress

    asked: dict[str, Any] = {}

    def fake(given: object, *, progress: Callable[[Progress], None], **options: Any) -> object:
        asked.update(options, script=given)
        begin = Progress(
            launch=1,
            launches=9,
            cluster="resident data",
            steps=0,
            max_steps=None,
            elapsed_s=0.0,
            mean_step_time_s=None,
        )
        progress(begin)
        progress(begin)
        return calibration()

    monkeypatch.setattr(module, "calibrate", fake)

    said = smtc_lab("plan", "-p", "work=3", "--device-time", "0.05", script)

    assert said.exit_code == 0, said.err
    assert asked["script"] == script
    assert asked["hyperparameters"] == {"work": 3}
    assert asked["device_s"] == "0.05"
    told, kept = said.err.splitlines()
    assert told == "Calibrating, launch 1 of 9: resident data"
    assert "to plan again without measuring: --calibration" in kept


def test_device_times_of_several_kinds_go_with_any_calibration(
    smtc_lab: SmtcLab, script: Path, calibrated: Path, by_cpu: Path
) -> None:
    times = ("--device-time", "V100=0.03,A10G=0.02", "--families", "p3,g5,g4dn")
    emulated = smtc_lab("plan", "--calibration", calibrated, "-p", "work=3", *times, script)
    by_cpus = smtc_lab("plan", "--calibration", by_cpu, *times, script)

    for said in (emulated, by_cpus):
        assert said.exit_code == 0, said.err
        assert "device time unknown on NVIDIA T4 (device_s, --device-time)" in said.out
        assert "Declared for each accelerator: NVIDIA V100 30 ms, NVIDIA A10G 20 ms" in said.out


def test_named_device_times_go_to_the_calibration_with_their_names(
    smtc_lab: SmtcLab, script: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from smtc_lab.planner.calibration import calibrate as module

    asked: dict[str, Any] = {}

    def fake(_: object, **options: Any) -> object:
        asked.update(options)
        return calibration()

    monkeypatch.setattr(module, "calibrate", fake)

    said = smtc_lab("plan", "--device-time", "A100=0.01,V100=0.05", script)

    assert said.exit_code == 0, said.err
    assert asked["device_s"] == "A100=0.01,V100=0.05"


def test_a_device_time_that_is_none_is_refused_before_anything_is_measured(
    smtc_lab: SmtcLab, script: Path
) -> None:
    said = smtc_lab("plan", "--device-time", "V100=soon", script)
    unknown = smtc_lab("plan", "--device-time", "V101=0.05", script)

    assert said.exit_code == unknown.exit_code == 2
    assert "'V100=soon' is no time above 0" in said.err
    assert "names 'V101', which is no accelerator" in unknown.err


@pytest.fixture
def by_cpu(home: Path, script: Path) -> Path:
    made = calibration(
        workload=workload_hash(script, {}), entry_point=str(script), emulated_device_s=None
    )
    return made.save(home / "cpu.json")


def test_a_plan_of_a_machine_without_an_accelerator_says_so_first(
    smtc_lab: SmtcLab, script: Path, by_cpu: Path
) -> None:
    said = smtc_lab("plan", "--calibration", by_cpu, script)

    first = said.out.splitlines()[0]
    assert "(extrapolated)" in first
    assert "CPU instances only: what a step takes on an accelerator is unknown" in first
    assert "data group would only add cost" not in said.out


def test_device_times_of_accelerators_make_them_comparable(
    smtc_lab: SmtcLab, script: Path, by_cpu: Path
) -> None:
    said = smtc_lab(
        *("plan", "--calibration", by_cpu, "--device-s", "NVIDIA V100=0.02"),
        *("--device-s", "g5=0.01", script),
    )
    short = smtc_lab(
        *("plan", "--calibration", by_cpu, "--device-s", "V100=0.02,g5=0.01", script)
    )

    assert said.exit_code == 0, said.err
    assert short.out == said.out
    assert "ml.p3.2xlarge" in said.out
    assert "CPU instances only" not in said.out


def test_when_a_job_must_end_may_be_said_in_hours_or_as_a_time(
    smtc_lab: SmtcLab, home: Path, script: Path, calibrated: Path
) -> None:
    common = ("plan", "--calibration", calibrated, "-p", "work=3", "--steps", "100000")

    said = smtc_lab(*common, "--within-hours", "2", "--json", home / "plan.json", script)
    never = smtc_lab(*common, "--within-hours", "0.01", script)

    assert said.exit_code == 0, said.err
    made = Plan.from_json((home / "plan.json").read_bytes())
    assert made.settings.num_devices is None
    assert made.cheapest.prediction.job_s is not None
    assert made.cheapest.prediction.job_s.mean <= 2 * 3600
    assert (never.exit_code, "The nearest to ending before 20" in never.err) == (1, True)
