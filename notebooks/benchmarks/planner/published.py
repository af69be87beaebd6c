"""Published step times over numbers of data instances: what the planner's defaults rest on.

All are of ResNet-50 or RetinaNet on a TPU of eight cores, fed by the data service of
TensorFlow, but for the last, which is of Ray. The device's time is that of its fastest row,
the data instance's that of one alone, and every other row was not used for its prediction.

Source:
    Cachew (USENIX ATC 2022): eth-easl/cachew_experiments, ``experiments/autoscaling``, both
    reference results, read off the figures to half a pixel, 0.5 % of a row. Pecan (USENIX ATC
    2024): eth-easl/pecan-experiments, ``experiments/pecan/logs/sample_logs``: time between the
    first and the last of about 500 batches at each number of workers, the mean where one came
    more than once. The logs say how fast batches were taken into a buffer, so rows faster than
    the device are left out. Ray: ray-project/ray, issue 42318.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from smtc_lab.planner.calibration.calibration import Calibration
from smtc_lab.planner.calibration.parts import (
    CpuSpeedFact,
    DevicePoint,
    LaunchSpread,
    WorkerPoint,
)
from smtc_lab.planner.intervals import measured
from smtc_lab.planner.model.setup import Setup

if TYPE_CHECKING:
    from collections.abc import Sequence

    from smtc_lab.metrics.result import Interval

_READ = 0.02
"""Half of the 80 % interval of a published row, as a share of it. Assumed: repeated windows at
one number of workers scatter by 0.3 to 4 %."""


@dataclass(frozen=True, kw_only=True)
class Curve:
    """Step times of one workload with several numbers of data instances."""

    name: str
    """What it is called."""

    rows: tuple[tuple[int, float], ...]
    """Data instances and seconds, of a step or an epoch: only ratios count."""

    node_s: float
    """Seconds with the CPU of one data instance alone."""

    device_s: float
    """Seconds that the device takes with its data there."""

    local_s: float | None = None
    """Seconds with the trainer's own CPU alone; None: it prepares nothing."""

    ranks: int = 8
    """Trainer processes, which wait for each other."""

    inputs: tuple[int, ...] = (1,)
    """Data instances of the rows that the other figures are from."""

    @property
    def unseen(self) -> tuple[tuple[int, float], ...]:
        """The rows that no prediction is from."""
        return tuple(row for row in self.rows if row[0] not in self.inputs)

    def data_s(self, nodes: int) -> float:
        """Return the seconds that all CPUs together take for the data."""
        alone = 0.0 if self.local_s is None else 1 / self.local_s
        return 1 / (alone + nodes / self.node_s)

    def is_near(self, nodes: int) -> bool:
        """Return whether data and device are within a factor of two.

        Elsewhere nearly every p says the same.
        """
        return 0.5 <= self.data_s(nodes) / self.device_s <= 2.0

    def calibration(self) -> Calibration:
        """Return what would have been calibrated: CPU work of the data, the device, no more."""
        points = {"in_process": self.local_s or self.node_s, "service": self.node_s}
        return Calibration(
            created="2026-11-23T00:00:00+00:00",
            workload=self.name,
            entry_point=self.name,
            hyperparameters={},
            machine={"cores": 1.0, "gpus": ["published"]},
            versions={},
            batch_size=1,
            device_points=(DevicePoint(batch_size=1, step_s=_read(self.device_s)),),
            worker_points=tuple(
                WorkerPoint(
                    num_data_workers=1,
                    cores=1.0,
                    samples_per_s=_read(self.ranks / alone_s),
                    cpu_s_per_sample=_read(alone_s / self.ranks),
                    path=path,
                )
                for path, alone_s in points.items()
            ),
            # What was published of a curve is of one run, and says nothing of another.
            launch_spread=LaunchSpread(cpu_sd=0.0, freedom=1.0, repeats=0),
            cpu_speed=CpuSpeedFact(value=1.0, kind="user", of="published"),
        )

    def setup(self, nodes: int) -> Setup:
        """Return the set-up of a row: its data instances have a core each."""
        return Setup(
            trainer_cores=float(self.ranks),
            loader_workers=0.0 if self.local_s is None else 1.0,
            devices=float(self.ranks),
            data_instances=float(nodes),
            data_cores=1.0,
            data_workers=1.0,
            has_quotas=False,
        )


def _read(value: float) -> Interval:
    return measured(value, value * (1 - _READ), value * (1 + _READ))


_CACHEW_LONG = (1733, 870, 646, 550, 511, 501, 492, 492)
_CACHEW_SHORT = (1436, 696, 429, 387, 392, 390)
_RESNET = (
    *(868.3, 417.9, 287.9, 216.5, 167.6, 134.3, 126.1, 108.0, 95.4, 82.9),
    *(80.2, 71.3, 65.7, 62.0, 57.1, 51.3, 48.6, 46.0, 44.3),
)
_RESNET_ORDERED = (397.8, 195.4, 131.3, 98.8, 80.0, 65.2, 56.0, 48.9, 44.7, 39.3)
_RESNET_DEVICE = 38.7
"""Of 39 windows in which data instances and the trainer's own CPU delivered more than that."""


def _rows(times: Sequence[float]) -> tuple[tuple[int, float], ...]:
    return tuple(enumerate(map(float, times), start=1))


CURVES = (
    Curve(
        name="Cachew, 8 rows",
        rows=_rows(_CACHEW_LONG),
        node_s=1733.0,
        device_s=492.0,
        inputs=(1, 8),
    ),
    Curve(
        name="Cachew, 6 rows",
        rows=_rows(_CACHEW_SHORT),
        node_s=1436.0,
        device_s=390.0,
        inputs=(1, 6),
    ),
    Curve(name="Pecan, ResNet-50", rows=_rows(_RESNET), node_s=868.3, device_s=_RESNET_DEVICE),
    Curve(
        name="Pecan, ResNet-50, reordered",
        rows=_rows(_RESNET_ORDERED),
        node_s=397.8,
        device_s=_RESNET_DEVICE,
    ),
    Curve(
        name="Pecan, RetinaNet",
        rows=_rows((636.8, 344.7, 346.3)),
        node_s=636.8,
        device_s=346.3,
        inputs=(1, 3),
    ),
    Curve(
        name="Pecan, RetinaNet, reordered",
        rows=_rows((581.4, 344.7, 348.4)),
        node_s=581.4,
        device_s=344.9,
    ),
)
"""Eight ranks that wait for each other."""

RAY = Curve(
    name="Ray, one trainer process",
    rows=((0, 1000 / 753), (1, 1000 / 1233), (5, 1000 / 1711), (10, 1000 / 1764)),
    local_s=1000 / 753,
    node_s=1000 / (1233 - 753),
    device_s=1000 / 1764,
    ranks=1,
    inputs=(0, 1, 10),
)
"""One that waits for nobody."""
