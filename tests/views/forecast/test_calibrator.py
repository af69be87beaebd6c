"""Calibrations in a process of their own, of scripts that come to no end, or to a bad one."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from smtc_lab.catalog.catalog import Catalog
from smtc_lab.planner.forecast.kept import FOLDER
from smtc_lab.spec.job import TrainingJob
from smtc_lab.study.comparison.compare_compilers import this_machine
from smtc_lab.views.code.set_ups import first_jobs
from smtc_lab.views.forecast import calibrator as calibrators
from smtc_lab.views.forecast.calibrator import Calibrating, Calibrator
from smtc_lab.views.forecast.forecasting import calibrate_missing, forecast_of
from tests.kit.runs import processes_after, wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

ENDLESS = "import time\nfor _ in range(6000):\n    time.sleep(0.1)\n"
WITHOUT_STEPS = "print('no step')\n"


@pytest.fixture
def calibrator() -> Iterator[Calibrator]:
    made = Calibrator()
    yield made
    made.stop()
    wait_until(lambda: not made.calibrating.is_going_on, what="its process has ended")


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SMTC_LAB_HOME", str(tmp_path / "home"))


def job(folder: Path, text: str) -> TrainingJob:
    script = folder / "train.py"
    script.write_text(text, encoding="utf-8")
    return TrainingJob(entry_point=str(script), cluster=this_machine())


def begin(calibrator: Calibrator, folder: Path, text: str) -> list[Calibrating]:
    """Begin to calibrate a script, and return what is told of it."""
    told: list[Calibrating] = []
    calibrator.listen(lambda: told.append(calibrator.calibrating))
    calibrator.start([job(folder, text)], root=folder / "runs", seconds=0.05)
    return told


def runs_of(folder: Path) -> list[Path]:
    return [each for each in (folder / "runs").iterdir() if each.name != FOLDER]


def test_it_tells_which_launch_of_how_many_runs_and_stops_with_all_of_it(
    calibrator: Calibrator, tmp_path: Path
) -> None:
    told = begin(calibrator, tmp_path, ENDLESS)
    again = calibrator.start([job(tmp_path, ENDLESS)], root=tmp_path, seconds=1.0)
    assert again.state == "calibrating"
    wait_until(lambda: calibrator.calibrating.launch == 1, what="the first launch is told")
    assert calibrator.calibrating.launches > 10
    assert calibrator.calibrating.sentence.startswith("Launch 1 of")

    calibrator.stop()
    wait_until(lambda: not calibrator.calibrating.is_going_on, what="it has ended")

    assert calibrator.calibrating == Calibrating(
        state="stopped", sentence="The calibration was stopped; nothing of it is kept."
    )
    assert "stopping" in {each.state for each in told}
    (run,) = runs_of(tmp_path)
    assert processes_after(run) == {}
    assert list((tmp_path / "runs" / FOLDER).glob("*.json")) == []


def test_why_a_script_cannot_be_calibrated_is_told_in_its_own_words(
    calibrator: Calibrator, tmp_path: Path
) -> None:
    begin(calibrator, tmp_path, WITHOUT_STEPS)

    wait_until(lambda: calibrator.calibrating.state == "failed", what="it has failed")

    assert "made 0 training steps (resident data)" in calibrator.calibrating.sentence


def test_a_process_that_dies_says_its_last_words(
    calibrator: Calibrator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(calibrators, "_PROGRAM", "smtc_lab.no_such_module")

    begin(calibrator, tmp_path, ENDLESS)
    wait_until(lambda: calibrator.calibrating.state == "failed", what="it has failed")

    assert "No module named smtc_lab.no_such_module" in calibrator.calibrating.sentence


def test_nothing_to_calibrate_begins_nothing(tmp_path: Path) -> None:
    assert Calibrator().start([], root=tmp_path, seconds=1.0).state == "idle"


def test_it_ends_with_the_process_that_asked_for_it(tmp_path: Path) -> None:
    job(tmp_path, ENDLESS)
    program = f"""
from smtc_lab.views.forecast.calibrator import CALIBRATOR
from smtc_lab.spec.job import TrainingJob
from smtc_lab.study.comparison.compare_compilers import this_machine
from pathlib import Path
import time
job = TrainingJob(entry_point={str(tmp_path / "train.py")!r}, cluster=this_machine())
CALIBRATOR.start([job], root=Path({str(tmp_path / "runs")!r}), seconds=0.05)
while CALIBRATOR.calibrating.launch < 1:
    time.sleep(0.05)
print(CALIBRATOR._process.pid, flush=True)
time.sleep(600)
"""
    asker = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert asker.stdout is not None
    with asker:
        pid = int(asker.stdout.readline())
        asker.send_signal(signal.SIGKILL)

    wait_until(lambda: not _is_alive(pid), what="it has ended by itself")
    (run,) = runs_of(tmp_path)
    assert processes_after(run) == {}


@pytest.mark.soak
@pytest.mark.timeout(900)
def test_the_demo_is_calibrated_and_predicted(calibrator: Calibrator) -> None:
    value = [one.model_dump(mode="json") for one in first_jobs()]

    calibrate_missing(value, calibrator, seconds=0.5)
    wait_until(lambda: not calibrator.calibrating.is_going_on, what="its end", limit_s=800)

    assert calibrator.calibrating == Calibrating(state="done")
    told = forecast_of(value, 3, catalog=Catalog.load(), calibrating=Calibrating())
    alone, fed = told.set_ups
    assert alone.step_time_s is not None
    assert fed.step_time_s is not None
    assert fed.step_time_s.mean < alone.step_time_s.mean
    assert told.missing is None


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
