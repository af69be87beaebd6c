"""Calibrations with chosen numbers, for tests of the planner."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from smtc_lab.planner import intervals
from smtc_lab.planner.calibration.calibrate import kept_at
from smtc_lab.planner.calibration.calibration import Calibration
from smtc_lab.planner.calibration.parts import (
    CpuSpeedFact,
    DevicePoint,
    LaunchSpread,
    RunPoint,
    WorkerPoint,
)
from smtc_lab.planner.workload_hash import workload_hash

if TYPE_CHECKING:
    from pathlib import Path

    from smtc_lab.metrics.result import Interval
    from smtc_lab.spec.job import TrainingJob

PATHS: tuple[Literal["in_process", "service"], ...] = ("in_process", "service")
"""Both ways of a sample."""


ALIKE = LaunchSpread(cpu_sd=0.0, freedom=5.0, repeats=4)
"""Launches of one set-up that do not differ."""


def measured(value: float, spread: float = 0.02) -> Interval:
    """Return a number whose 80 % interval reaches this share of it to both sides."""
    return intervals.measured(value, value * (1 - spread), value * (1 + spread))


def worker_point(
    core_s: float, *, cores: float = 2.0, path: Literal["in_process", "service"] = "in_process"
) -> WorkerPoint:
    """Return data workers on so many cores that take so many CPU-seconds for a sample."""
    return WorkerPoint(
        num_data_workers=max(1, round(cores)),
        cores=cores,
        samples_per_s=measured(cores / core_s),
        cpu_s_per_sample=measured(core_s),
        path=path,
    )


def run_point(step_s: float, workers: int, **fields: Any) -> RunPoint:  # noqa: ANN401  any field of a RunPoint
    """Return a run on two cores with so many data workers of the trainer."""
    values: dict[str, Any] = {"batch_size": 100, "trainer_cores": 2.0, "data_cores": 0.0}
    values |= fields
    return RunPoint(num_data_workers=workers, step_time_s=measured(step_s), **values)


def calibration(**fields: Any) -> Calibration:  # noqa: ANN401  any field of a Calibration
    """Return one of two cores: 1 ms of CPU for a sample, batches of 100, a device of 10 ms.

    The device is emulated, so that it stands for the accelerator of every type. Its CPU has
    the speed of ml.p3.2xlarge's.
    """
    values: dict[str, Any] = {
        "created": "2026-11-22T03:00:00+00:00",
        "workload": "0123456789abcdef",
        "entry_point": "train.py",
        "hyperparameters": {"batch_size": 100},
        "machine": {"cpu": "a CPU", "cores": 2.0},
        "versions": {"torch": "2.9.1"},
        "emulated_device_s": 0.01,
        "batch_size": 100,
        "device_points": tuple(
            DevicePoint(batch_size=size, step_s=measured(0.01, 0.001)) for size in (100, 200)
        ),
        "worker_points": tuple(worker_point(0.001, path=path) for path in PATHS),
        "bytes_per_sample": 1000.0,
        "startup_s": measured(60.0),
        "launch_spread": ALIKE,
        "cpu_speed": CpuSpeedFact(value=1.0, kind="user", of="a CPU"),
    }
    return Calibration(**(values | fields))


def keep_calibration(job: TrainingJob, root: Path, **fields: Any) -> Calibration:  # noqa: ANN401  any field of a Calibration
    """Keep a calibration of a job's workload below a folder of runs, as ``calibrate`` does."""
    workload = workload_hash(job.entry_point, job.hyperparameters)
    made = calibration(workload=workload, **fields)
    path = kept_at(made, root)
    path.parent.mkdir(parents=True, exist_ok=True)
    made.save(path)
    return made
