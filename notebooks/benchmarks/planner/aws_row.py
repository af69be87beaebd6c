"""AWS's published PyTorch comparison, predicted from its homogeneous row alone.

What is used beside that row is the published script's own: batches of 8,192 samples of 3,137
bytes, 8 data workers, 32 on the data instance. CPU speeds are the catalog's. What the device
takes is not published of that row, which it does not bound, so next to nothing is taken.

Source:
    AWS Machine Learning blog, "Improve price performance of your model training using Amazon
    SageMaker heterogeneous clusters", 2022-10-27; aws/amazon-sagemaker-examples,
    training/heterogeneous-clusters.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from notebooks.benchmarks.harness.figure import BenchFigure, bench_figure
from notebooks.benchmarks.published.tables import PYTORCH, published_catalog
from smtc_lab.catalog.cpu_speed import relative_cpu_speed
from smtc_lab.planner.calibration.calibration import Calibration
from smtc_lab.planner.calibration.parts import (
    CpuSpeedFact,
    DevicePoint,
    LaunchSpread,
    WorkerPoint,
)
from smtc_lab.planner.intervals import measured
from smtc_lab.planner.plan import plan

if TYPE_CHECKING:
    from smtc_lab.metrics.result import Interval

_TYPE, _VCPUS = "ml.p3.2xlarge", 8
_BATCH, _SAMPLE_BYTES = 8192, 3137.0
_LOADER_WORKERS, _DATA_WORKERS = 8, 32
_DEVICE_S = 0.001
_READ = 0.02
"""Half of the 80 % interval of the published row, as a share of it. Assumed."""


def aws_calibration() -> Calibration:
    """Return what a calibration on the homogeneous cluster would have measured."""
    core_s = (PYTORCH.step_time_s[0] * _VCPUS - _DEVICE_S) / _BATCH
    device = DevicePoint(
        batch_size=_BATCH, step_s=_read(_DEVICE_S), cpu_s_per_step=_read(_DEVICE_S)
    )
    of_own = WorkerPoint(
        num_data_workers=_VCPUS,
        cores=float(_VCPUS),
        samples_per_s=_read(_VCPUS / core_s),
        cpu_s_per_sample=_read(core_s),
        path="in_process",
    )
    return Calibration(
        created="2026-11-28T00:00:00+00:00",
        workload=PYTORCH.experiment,
        entry_point=PYTORCH.experiment,
        hyperparameters={},
        machine={"cores": float(_VCPUS), "gpus": ["Tesla V100-SXM2-16GB"]},
        versions={},
        batch_size=_BATCH,
        bytes_per_sample=_SAMPLE_BYTES,
        device_points=(device,),
        worker_points=(of_own, of_own.model_copy(update={"path": "service"})),
        # What was published is of one run, and says nothing of another.
        launch_spread=LaunchSpread(cpu_sd=0.0, freedom=1.0, repeats=0),
        cpu_speed=CpuSpeedFact(
            value=relative_cpu_speed(_TYPE, {}).value, kind="estimated", of=_TYPE
        ),
    )


def aws_speedup() -> float:
    """Return how many times as fast the plan says that the heterogeneous cluster is."""
    made = plan(aws_calibration(), catalog=published_catalog(), families=["p3", "c5"])
    alone = made.cluster(PYTORCH.homogeneous, num_loader_workers=_LOADER_WORKERS)
    fed = made.cluster(
        PYTORCH.heterogeneous, num_loader_workers=0, num_data_workers=_DATA_WORKERS
    )
    return alone.prediction.step_time_s.mean / fed.prediction.step_time_s.mean


def aws_figure() -> BenchFigure:
    """Return how far that is from what was published."""
    error = 100 * abs(aws_speedup() / PYTORCH.speedup - 1)
    return bench_figure(
        f"AWS's PyTorch row from the homogeneous one, off {PYTORCH.speedup:.2f} times by",
        [error],
        unit="%",
        better="lower",
        goal=15,
    )


def _read(value: float) -> Interval:
    return measured(value, value * (1 - _READ), value * (1 + _READ))
