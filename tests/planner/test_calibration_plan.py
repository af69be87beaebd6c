"""What a calibration makes of its launches; the launches themselves are made up."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from smtc_lab.errors import PlannerError
from smtc_lab.metrics.measured_launch import measured_launch
from smtc_lab.metrics.records.records import LoaderRecord
from smtc_lab.planner.calibration import calibrate
from smtc_lab.planner.calibration.calibration import Calibration
from smtc_lab.planner.calibration.parts import ASSUMED_SPREAD
from smtc_lab.planner.calibration.plan import REPEATS, num_launches, run_all, worker_counts
from smtc_lab.planner.calibration.points import measured_fields
from smtc_lab.planner.calibration.trial import CalibrationLaunch, Seen, measured_mean, product
from smtc_lab.planner.intervals import measured
from smtc_lab.planner.workload_hash import workload_hash
from tests.kit.records import STARTED_S, jittered, run_records

if TYPE_CHECKING:
    from pathlib import Path

ALONE = "here=local:1"
FED = "here=local:1:train,data=local:1:data"


@dataclass
class MadeUp:
    """Launches of a workload of 1 ms of CPU time a sample, 10 ms a step, on two cores."""

    fails: set[str] = field(default_factory=set)
    busy: bool = False
    batch_size: int = 32
    reads_batch_size: bool = True
    slow_again: float = 1.0
    made: list[CalibrationLaunch] = field(default_factory=list)

    def __call__(self, trial: CalibrationLaunch) -> Seen:
        is_again = trial in self.made
        self.made.append(trial)
        if trial.label in self.fails:
            raise PlannerError(f"{trial.label} went wrong.")
        size = (trial.batch_size if self.reads_batch_size else None) or self.batch_size
        count = trial.num_data_workers or trial.num_loader_workers
        prepare_s = size * 0.001 / max(1, count)
        step_s = {"resident": 0.01, "loader": prepare_s, "run": max(0.01, prepare_s)}
        run = run_records(
            jittered(step_s[trial.what] * (self.slow_again if is_again else 1), num_steps=240),
            cluster=FED if trial.num_data_workers else ALONE,
            num_samples=size,
            cpu_quota_cores=None,
            cpu_used_fraction=0.5,
            cpu_delivered_fraction=0.5 if self.busy else 1.0,
        )
        if trial.num_data_workers:
            run.loader["algo-1-rank0"] = [_loader_record(size)]
        launch = measured_launch(run)
        assert launch is not None
        notes = {"gradient_bytes": 4000.0, "loader_batch_size": float(size)}
        return Seen(trial=trial, launch=launch, notes=notes)


def _loader_record(size: int) -> LoaderRecord:
    return LoaderRecord(
        time_s=STARTED_S + 4.0,
        server="algo-2",
        batches=100,
        received_bytes=100 * size * 3000,
        get_wait_s=0.1,
        worker_busy_s=100 * size * 0.0009,
        requests_sent_again=0,
    )


def fields_of(trials: Any, *, cores: int = 2, is_emulated: bool = False) -> dict[str, Any]:
    found = run_all(trials, cores=cores, is_emulated=is_emulated)
    return measured_fields(found, cores=cores)


@pytest.mark.parametrize(
    ("cores", "counts"), [(1, [1]), (2, [1, 2]), (3, [1, 3]), (16, [1, 8, 16])]
)
def test_workers_are_counted_at_one_half_and_all_cores_without_doubles(
    cores: int, counts: list[int]
) -> None:
    assert worker_counts(cores) == counts


@pytest.mark.parametrize("is_emulated", [False, True])
def test_as_many_launches_are_made_as_are_announced(*, is_emulated: bool) -> None:
    trials = MadeUp()

    fields_of(trials, cores=4, is_emulated=is_emulated)

    assert len(trials.made) == num_launches(4, is_emulated=is_emulated)


def test_points_hold_what_the_launches_showed() -> None:
    fields = fields_of(MadeUp())

    assert [point.batch_size for point in fields["device_points"]] == [32, 16]
    assert fields["device_points"][0].step_s.value == pytest.approx(0.01, rel=0.01)
    assert fields["device_points"][0].cpu_s_per_step.value == pytest.approx(0.01, rel=0.01)
    points = {(one.path, one.num_data_workers): one for one in fields["worker_points"]}
    assert set(points) == {(path, n) for path in ("in_process", "service") for n in (1, 2)}
    two = points["in_process", 2]
    assert two.samples_per_s.value == pytest.approx(2000, rel=0.01)
    assert two.cpu_s_per_sample.value == pytest.approx(0.0005, rel=0.01)
    assert two.cores == 2
    assert fields["bytes_per_sample"] == 3000
    assert fields["send_cpu_s_per_byte"] == pytest.approx(0.0001 / 3000, rel=0.1)
    assert fields["gradient_bytes"] == 4000
    assert fields["startup_s"].value == pytest.approx(2.0)
    assert fields["end_s"].value == pytest.approx(0.5, abs=1e-5)
    assert fields["compile_s"] is None
    assert fields["problems"] == ()


def test_whole_runs_are_made_at_each_worker_count_and_with_a_data_instance() -> None:
    fields = fields_of(MadeUp(), cores=4)

    runs = fields["run_points"]
    assert [(one.num_data_workers, one.data_cores) for one in runs] == [
        (1, 0.0),
        (2, 0.0),
        (4, 0.0),
        (2, pytest.approx(1.92)),
    ]
    assert runs[-1].trainer_cores + runs[-1].data_cores < 4


def test_the_data_instance_of_a_whole_run_just_keeps_up_with_the_device() -> None:
    runs = fields_of(MadeUp(batch_size=8), cores=4)["run_points"]

    assert runs[-1].num_data_workers == 1
    assert runs[-1].data_cores == pytest.approx(0.8, rel=0.02)


def test_an_emulated_job_is_calibrated_under_quotas() -> None:
    trials = MadeUp()

    fields = fields_of(trials, is_emulated=True)

    assert all(trial.quotas for trial in trials.made)
    assert sorted(point.cores for point in fields["worker_points"]) == [0.5, 0.5, 1, 1, 2, 2]


@pytest.mark.parametrize(("cores", "counts"), [(1, [1, 1]), (2, [1, 2]), (8, [1, 8])])
@pytest.mark.parametrize("is_emulated", [False, True])
def test_loaders_with_one_and_with_all_cores_are_launched_once_more_at_the_end(
    *, cores: int, counts: list[int], is_emulated: bool
) -> None:
    trials = MadeUp()

    fields_of(trials, cores=cores, is_emulated=is_emulated)

    again = trials.made[-REPEATS:]
    assert all(trial in trials.made[:-REPEATS] and trial.what == "loader" for trial in again)
    for own in ([t.num_loader_workers for t in again], [t.num_data_workers for t in again]):
        assert [count for count in own if count] == counts


def test_repeated_launches_tell_their_spread_and_are_averaged() -> None:
    fields = fields_of(MadeUp(slow_again=1.2))

    assert {point.launches for point in fields["worker_points"]} == {2}
    points = {(one.path, one.num_data_workers): one for one in fields["worker_points"]}
    assert points["in_process", 1].cpu_s_per_sample.mean == pytest.approx(0.0011, rel=0.01)
    spread = fields["launch_spread"]
    variance = (REPEATS * np.log(1.2) ** 2 / 2 + ASSUMED_SPREAD.cpu_sd**2) / (REPEATS + 1)
    assert spread.cpu_sd == pytest.approx(np.sqrt(variance), rel=0.01)
    assert spread.repeats == REPEATS


def test_what_fails_is_a_problem_and_the_rest_is_measured() -> None:
    failing = {"resident data, batch 16", "loader, data service, 2 data workers"}

    fields = fields_of(MadeUp(fails=failing))

    assert len(fields["device_points"]) == 1
    assert len(fields["worker_points"]) == 3
    assert len(fields["problems"]) == 2
    assert "resident data, batch 16 went wrong." in fields["problems"][0]


def test_without_the_data_service_its_costs_are_unknown_not_zero() -> None:
    failing = {f"loader, data service, {count} data workers" for count in (1, 2)}

    fields = fields_of(MadeUp(fails=failing))

    for name in ("bytes_per_sample", "send_cpu_s_per_byte", "serial_s_per_step"):
        assert fields[name] is None
    assert any("its costs are not known" in problem for problem in fields["problems"])


def test_a_script_without_steps_cannot_be_calibrated() -> None:
    with pytest.raises(PlannerError, match="resident data went wrong"):
        fields_of(MadeUp(fails={"resident data"}))


def test_fewer_than_two_points_of_the_data_path_are_too_few() -> None:
    failing = {f"loader, in process, {count} data workers" for count in (1, 2)}
    failing.add("loader, data service, 2 data workers")

    with pytest.raises(PlannerError, match=r"Only 1 measurements .*at least 2.*went wrong"):
        fields_of(MadeUp(fails=failing))


def test_a_busy_machine_is_told() -> None:
    fields = fields_of(MadeUp(busy=True))

    assert "busy with other work" in fields["problems"][0]
    assert "50%" in fields["problems"][0]


def test_a_batch_of_one_is_measured_beside_one_of_two() -> None:
    fields = fields_of(MadeUp(batch_size=1))

    assert [point.batch_size for point in fields["device_points"]] == [1, 2]


def test_a_script_that_takes_batches_of_its_own_is_measured_at_one_size() -> None:
    fields = fields_of(MadeUp(reads_batch_size=False))

    assert len(fields["device_points"]) == 1
    assert "takes 32 samples a step whatever" in fields["problems"][0]


def test_looks_that_reach_before_the_measured_time_do_not_count() -> None:
    trial = CalibrationLaunch(what="resident")
    seen = MadeUp()(trial)
    samples = seen.launch.run.system["algo-1"]
    begin_s = seen.launch.begin_s
    samples[:] = [
        replace(one, cpu_used_s=5.0) if one.time_s - one.interval_s < begin_s else one
        for one in samples
    ]

    cpu = seen.cpu_s_per_step("algo-1")

    assert cpu is not None
    assert cpu.value == pytest.approx(0.01, rel=0.01)


def test_a_product_of_independent_numbers_has_both_their_errors() -> None:
    one = measured(10, 7, 13)
    other = measured(2, 1.2, 2.8)

    both = product(one, other)

    assert (both.value, both.low, both.high) == pytest.approx((20, 10, 30))


def test_a_mean_without_scatter_is_its_own_interval() -> None:
    mean = measured_mean(np.full(20, 0.3))

    assert (mean.value, mean.low, mean.high) == pytest.approx((0.3, 0.3, 0.3))


def test_a_calibration_is_saved_with_its_date(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(calibrate, "run_all", lambda _, **options: run_all(MadeUp(), **options))
    script = tmp_path / "train.py"
    script.touch()

    made = calibrate.calibrate(
        script, hyperparameters={"lr": 1}, relative_cpu_speed=1.5, root=tmp_path
    )

    (file,) = (tmp_path / "calibrations").iterdir()
    digits = re.sub(r"\D", "", made.created.removesuffix("+00:00"))
    assert file.name == f"train-{digits[:8]}-{digits[8:]}.json"
    workload = workload_hash(script, {"lr": 1})
    assert Calibration.load(file, workload=workload) == made
    assert (made.cpu_speed.value, made.cpu_speed.kind) == (1.5, "user")
