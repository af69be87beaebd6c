"""Calibrations of real scripts, and what cannot be calibrated."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

import pytest

from smtc_lab.catalog import own_cpu_speed
from smtc_lab.catalog.own_cpu_speed import REFERENCE_RATE
from smtc_lab.errors import PlannerError, SpecError
from smtc_lab.examples import example
from smtc_lab.launchers.local.launcher import LocalLauncher
from smtc_lab.machine.cores import available_cores
from smtc_lab.planner.calibration import calibrate as calibrating
from smtc_lab.planner.calibration import host_speed
from smtc_lab.planner.calibration import trial as calibration_trial
from smtc_lab.planner.calibration.calibrate import calibrate
from smtc_lab.planner.calibration.link import SIZES
from smtc_lab.planner.calibration.plan import num_launches
from smtc_lab.planner.calibration.trial import CalibrationLaunch, Trials
from smtc_lab.planner.workload_hash import workload_hash
from smtc_lab.spec.emulation import Emulation
from smtc_lab.spec.job import TrainingJob
from smtc_lab.study.comparison.compare_compilers import this_machine
from smtc_lab.study.watched_run import LaunchWatch
from tests.kit.runs import processes_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from smtc_lab.launchers.run import Run

STEPS = """
    import time
    from smtc_lab.runtime.instance_runtime import instance_runtime

    timer = instance_runtime().timer
    for _ in range(200):
        timer.ask()
        timer.got(8)
        {body}
        timer.end()
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "runs"


@pytest.fixture
def script(tmp_path: Path) -> Callable[[str], str]:
    def make(body: str) -> str:
        path = tmp_path / "train.py"
        path.write_text(textwrap.dedent(body), encoding="utf-8")
        return str(path)

    return make


@pytest.fixture
def trials(root: Path, script: Callable[[str], str]) -> Callable[..., Trials]:
    def make(body: str, **watch: Any) -> Trials:
        job = TrainingJob(entry_point=script(body), cluster=this_machine())
        return Trials(
            launcher=LocalLauncher(root=root),
            job=job,
            seconds=0.05,
            watch=LaunchWatch(launches=1, **{"progress": None, **watch}),
        )

    return make


def test_a_trial_sees_steps_samples_and_cpu_time(trials: Callable[..., Trials]) -> None:
    seen = trials(STEPS.format(body="time.sleep(0.002)"))(CalibrationLaunch(what="resident"))

    assert seen.batch_size == 8
    assert seen.step().value >= 0.002
    assert seen.step().low <= seen.step().value <= seen.step().high
    assert seen.samples_per_s().value == pytest.approx(8 / seen.step().value)


def test_a_device_faster_than_the_timer_is_refused(
    trials: Callable[..., Trials], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(calibration_trial, "_FINEST_S", 1.0)  # no step of this test is slower

    with pytest.raises(PlannerError, match=r"took .* µs .*cannot be timed. Raise the"):
        trials(STEPS.format(body="pass"))(CalibrationLaunch(what="resident"))


def test_a_script_without_a_training_step_is_refused(trials: Callable[..., Trials]) -> None:
    with pytest.raises(PlannerError, match=r"made 0 training steps \(resident data\)"):
        trials("print('nothing to train')")(CalibrationLaunch(what="resident"))


def test_a_script_that_fails_says_why(trials: Callable[..., Trials]) -> None:
    with pytest.raises(PlannerError, match=r"ended as Failed .*no such data.*Its logs: "):
        trials("raise OSError('no such data')")(CalibrationLaunch(what="resident"))


@pytest.mark.parametrize("jump_s", [-3600.0, 2.0])
def test_a_clock_that_jumped_is_refused(
    trials: Callable[..., Trials], monkeypatch: pytest.MonkeyPatch, jump_s: float
) -> None:
    class Jumping:
        jumps = iter([0.0, jump_s])
        monotonic = staticmethod(lambda: 0.0)

        def time(self) -> float:
            return next(self.jumps)

    monkeypatch.setattr(calibration_trial, "time", Jumping())

    with pytest.raises(PlannerError, match=rf"clock jumped by \{jump_s:+.2f} s.*settle"):
        trials(STEPS.format(body="pass"))(CalibrationLaunch(what="resident"))


def test_an_interrupt_leaves_nothing_running(trials: Callable[..., Trials]) -> None:
    started: list[Run] = []

    def interrupt(run: Run, _name: str) -> None:
        started.append(run)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        trials("import time; time.sleep(600)", started=interrupt)(
            CalibrationLaunch(what="resident")
        )

    (run,) = started
    assert run.status == "Stopped"
    assert processes_of(run.folder.path) == {}


def test_what_cannot_be_calibrated_is_refused_before_anything_starts(
    root: Path, script: Callable[[str], str]
) -> None:
    job = TrainingJob(entry_point=script(""), cluster=this_machine())

    with pytest.raises(SpecError, match="is not a file"):
        calibrate("missing.py", root=root)
    with pytest.raises(SpecError, match=r"hyperparameters, seed, which the job has itself"):
        calibrate(job, hyperparameters={}, seed=3, root=root)
    with pytest.raises(PlannerError, match=r"seconds_per_point=0 must be .*above 0"):
        calibrate(job, seconds_per_point=0, root=root)
    with pytest.raises(PlannerError, match=r"relative_cpu_speed=nan must be .*above 0"):
        calibrate(job, relative_cpu_speed=float("nan"), root=root)
    assert not root.exists()


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> list[TrainingJob]:
    """Jobs that would be calibrated; nothing runs."""
    jobs: list[TrainingJob] = []

    def run_none(trials: Trials, **_: object) -> None:
        jobs.append(trials.job)
        raise PlannerError("Enough was seen. Go on.")

    monkeypatch.setattr(calibrating, "run_all", run_none)
    monkeypatch.setattr(calibrating, "host_speed", lambda **_: (None, 1.0))
    return jobs


def test_a_job_at_a_time_dilation_is_calibrated_at_this_machines_own_speed(
    script: Callable[[str], str], root: Path, seen: list[TrainingJob]
) -> None:
    asked = Emulation(device_step_time_s=0.01, time_dilation=30)
    job = TrainingJob(entry_point=script("print()"), cluster=this_machine(), emulation=asked)

    with pytest.raises(PlannerError, match="Enough was seen"):
        calibrate(job, root=root)

    assert [each.emulation for each in seen] == [Emulation(device_step_time_s=0.01)]


def test_the_longest_of_named_device_times_is_emulated(
    script: Callable[[str], str], root: Path, seen: list[TrainingJob]
) -> None:
    with pytest.raises(PlannerError, match="Enough was seen"):
        calibrate(script("print()"), device_s="V100=0.03,A100=0.012", root=root)
    with pytest.raises(SpecError, match="'V101', which is no accelerator"):
        calibrate(script("print()"), device_s="V101=0.03", root=root)

    assert [each.emulation for each in seen] == [Emulation(device_step_time_s=0.03)]


def test_a_workload_is_its_text_and_its_hyperparameters(script: Callable[[str], str]) -> None:
    one = workload_hash(script("a = 1"), {"lr": 1, "epochs": 2})
    same = workload_hash(script("a = 1"), {"epochs": 2, "lr": 1})
    other_values = workload_hash(script("a = 1"), {"lr": 1})
    other_text = workload_hash(script("a = 2"), {"lr": 1, "epochs": 2})

    assert one == same
    assert len({one, other_values, other_text}) == 3


def test_a_cpu_benchmark_that_fails_says_what_to_give(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.executable", "/bin/false")

    with pytest.raises(PlannerError, match=r"gave no figure .*Give relative_cpu_speed"):
        host_speed.host_speed(seconds=0.03)


def test_the_speed_from_the_benchmark_is_an_estimate_that_says_where_it_is_from(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(own_cpu_speed, "cpu_rate", lambda **_: 2 * REFERENCE_RATE)

    fact, rate = host_speed.host_speed(seconds=1.0)

    assert rate == 2 * REFERENCE_RATE
    assert fact.kind == "estimated"
    assert fact.value == pytest.approx(2 * 1.6)
    assert "2.00 times the reference machine (measured)" in fact.of


@pytest.mark.soak
@pytest.mark.timeout(900)
def test_the_demo_can_be_calibrated(root: Path) -> None:
    shown: list[int] = []

    made = calibrate(
        example("digits"),
        hyperparameters={"batch_size": 32, "work": 1},
        seconds_per_point=0.5,
        root=root,
        progress=lambda progress: shown.append(progress.launch),
    )

    assert [point.batch_size for point in made.device_points] == [32, 16]
    assert {point.path for point in made.worker_points} == {"in_process", "service"}
    assert made.bytes_per_sample == pytest.approx(28 * 28 * 4 + 8, rel=0.05)
    assert made.gradient_bytes is not None
    assert made.gradients is not None
    assert sum(made.gradients.nbytes) == made.gradient_bytes
    assert [point.nbytes for point in made.links] == list(SIZES)
    assert all(len(point.step_quantiles) > 1 for point in made.device_points)
    assert max(shown) == num_launches(int(available_cores()), is_emulated=False)
