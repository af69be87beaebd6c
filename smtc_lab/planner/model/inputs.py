"""A calibration as numbers that the model computes with, each with draws of its interval."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from smtc_lab.errors import PlannerError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smtc_lab.metrics.result import Interval
    from smtc_lab.planner.calibration.calibration import Calibration, DevicePoint
    from smtc_lab.planner.model.setup import Numbers

NUM_DRAWS = 256
"""Draws of which an interval is made; one more, the first, is the measured value itself."""

_SEED = 20261122
_TAIL = 1.2815516  # standard deviations to the ends of an 80 % interval


@dataclass(frozen=True, slots=True)
class CpuCost:
    """CPU-seconds that one sample takes, by how many data workers run beside each other.

    Workers that share caches and physical cores slow each other down, and a quota that holds
    them back lets their caches go cold for as long as they are held.
    """

    workers: NDArray[np.float64]
    """Data workers at which it was measured, rising, each with a core of its own."""

    core_s: NDArray[np.float64]
    """CPU-seconds per sample there, with their draws, shape (points, D)."""

    cooling: float
    """CPU-seconds lost to cold caches for each second that a worker was held back."""

    def at(self, workers: Numbers, quota: Numbers) -> NDArray[np.float64]:
        """Return CPU-seconds per sample, with its draws behind.

        Args:
            workers: Data workers that run beside each other.
            quota: Cores that they are held to; infinite: they are not held back.
        """
        # Beyond the measured points it stays: there every core was busy.
        core_s = sum(
            np.interp(workers, self.workers, share) * draws
            for share, draws in zip(np.eye(len(self.workers)), self.core_s, strict=True)
        )
        return np.asarray(core_s * (1 + self.cooling * held_back(workers, quota)))


def held_back(workers: Numbers, quota: Numbers) -> NDArray[np.float64]:
    """Return the seconds that workers are held back for each CPU-second of theirs.

    A quota lets them run until its share of a period is used up. From one core on the period
    is twice as long, so that they are interrupted half as often.
    """
    interruptions = np.where(np.asarray(quota) < 1, 1.0, 0.5)
    held = np.maximum(workers - np.minimum(quota, workers), 0.0)
    return np.asarray(held / np.maximum(quota, 1e-9) * interruptions)


@dataclass(frozen=True, slots=True)
class Draws:
    """Random numbers behind the intervals; the first of each is its middle."""

    generator: np.random.Generator
    """Where they come from; the seed is fixed, so that a plan can be made again."""

    count: int
    """Draws beside the first."""

    def normal(self) -> NDArray[np.float64]:
        """Return standard normal numbers, 0 first, shape (count + 1,)."""
        return np.concatenate(([0.0], self.generator.standard_normal(self.count)))

    def uniform(self) -> NDArray[np.float64]:
        """Return uniform numbers in [0, 1), shape (count,)."""
        return self.generator.random(self.count)

    def of(self, measured: Interval | None) -> NDArray[np.float64]:
        """Return draws of a measured number, its value first; never below 0. None: zeros."""
        z = self.normal()
        if measured is None:
            return np.zeros_like(z)
        up = (measured.high - measured.mean) / _TAIL
        down = (measured.mean - measured.low) / _TAIL
        return np.maximum(measured.mean + z * np.where(z > 0, up, down), 0.0)


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelInputs:
    """What the model knows of a workload. Arrays hold the value and its draws, shape (D,)."""

    batch_size: int
    """Samples of one step of one trainer process, as calibrated."""

    local: CpuCost | None
    """Samples prepared by a trainer's own data workers; None: not measured."""

    remote: CpuCost | None
    """Samples prepared by data instances, sending included; None: not measured."""

    bytes_per_sample: float | None
    """Bytes of one sample on the wire; None: not measured."""

    receive_core_s: float
    """CPU-seconds of a trainer for receiving one sample; 0 where it was not measured."""

    serial_s: NDArray[np.float64]
    """CPU-seconds of the trainer's thread for taking the batch of one step; 0 where it was not
    measured."""

    device_sizes: NDArray[np.float64]
    """Batch sizes of which the device time was measured, rising."""

    device_s: tuple[NDArray[np.float64], ...]
    """Draws of the device time at these batch sizes, in seconds."""

    device_overhead_s: float
    """What an emulated device takes beyond its declared time, in seconds."""

    host_core_s: tuple[NDArray[np.float64], ...]
    """Draws of the CPU-seconds of a trainer process for a step at these batch sizes, with its
    batch already there."""

    is_device_cpu: bool
    """Whether the step is computed by the CPU itself."""

    is_synchronous: bool
    """Whether the trainer's thread waits for the device in each step."""

    gradient_bytes: float | None
    """Bytes that all-reduce moves; None: not measured."""

    cores: float
    """Cores of the calibrated machine."""

    def device_at(self, batch_size: int) -> NDArray[np.float64]:
        """Return draws of the device time for a batch size, affine between two measured ones.

        Raises:
            PlannerError: It was measured at one other batch size only.
        """
        return np.maximum(self._affine(self.device_s, batch_size), 1e-9)

    def host_at(self, batch_size: int) -> NDArray[np.float64]:
        """Return draws of the CPU-seconds of a trainer process for a step.

        Raises:
            PlannerError: As for ``device_at``.
        """
        return self._affine(self.host_core_s, batch_size)

    def _affine(
        self, measured: tuple[NDArray[np.float64], ...], batch_size: int
    ) -> NDArray[np.float64]:
        sizes = self.device_sizes
        if batch_size in sizes:
            return measured[int(np.flatnonzero(sizes == batch_size)[0])]
        if len(sizes) < 2:
            raise PlannerError(
                f"The device time of batch_size={batch_size} is not known: it was measured at "
                f"{sizes[0]:g} only. Calibrate at two batch sizes, or at this one."
            )
        # A slope below 0 is noise of two equal times.
        slope = np.maximum((measured[-1] - measured[0]) / (sizes[-1] - sizes[0]), 0.0)
        found: NDArray[np.float64] = measured[0] + slope * (batch_size - sizes[0])
        return np.maximum(found, 0.0)

    def is_measured_at(self, batch_size: int) -> bool:
        """Whether the device time was measured at, or on both sides of, this batch size."""
        return bool(self.device_sizes[0] <= batch_size <= self.device_sizes[-1])


def inputs_of(calibration: Calibration, draws: Draws) -> ModelInputs:
    """Return what the model knows of a workload.

    Raises:
        PlannerError: The calibration has no device time, or no speed of data workers.
    """
    if not calibration.device_points or not calibration.worker_points:
        missing = "worker_points" if calibration.device_points else "device_points"
        why = f" ({' '.join(calibration.problems)})" if calibration.problems else ""
        raise PlannerError(
            f"The calibration of {calibration.entry_point} has no {missing}{why}, and without "
            "them no step time can be predicted. Calibrate again."
        )
    points = sorted(calibration.device_points, key=lambda point: point.batch_size)
    is_emulated = calibration.emulated_device_s is not None
    is_device_cpu = not is_emulated and not calibration.machine.get("gpus")
    cores = _cores(calibration)
    cooling = _cooling(calibration)
    return ModelInputs(
        batch_size=calibration.batch_size,
        local=_cpu_cost(calibration, "in_process", cooling, draws),
        remote=_cpu_cost(calibration, "service", cooling, draws),
        bytes_per_sample=calibration.bytes_per_sample,
        receive_core_s=(calibration.receive_cpu_s_per_byte or 0.0)
        * (calibration.bytes_per_sample or 0.0),
        serial_s=draws.of(calibration.serial_s_per_step),
        device_sizes=np.array([point.batch_size for point in points], dtype=np.float64),
        device_s=tuple(draws.of(point.step_s) for point in points),
        device_overhead_s=_overhead_s(points, calibration.emulated_device_s),
        host_core_s=tuple(
            _host_core_s(point, draws, cores if is_device_cpu else 0.0) for point in points
        ),
        is_device_cpu=is_device_cpu,
        is_synchronous=is_emulated or is_device_cpu,
        gradient_bytes=calibration.gradient_bytes,
        cores=cores,
    )


def _overhead_s(points: list[DevicePoint], declared_s: float | None) -> float:
    """Return what a step takes beyond the declared time, or beyond what the host computes."""
    if declared_s is None:
        return 0.0
    beyond = []
    for point in points:
        host_s = 0.0 if point.cpu_s_per_step is None else point.cpu_s_per_step.mean
        beyond.append(point.step_s.mean - max(declared_s, host_s))
    return max(0.0, min(beyond))


def _host_core_s(point: DevicePoint, draws: Draws, cores: float) -> NDArray[np.float64]:
    if point.cpu_s_per_step is None and cores:  # a CPU that computes had all cores busy
        return draws.of(point.step_s) * cores
    return draws.of(point.cpu_s_per_step)


def _cores(calibration: Calibration) -> float:
    known = calibration.machine.get("cores")
    if isinstance(known, int | float) and known > 0:
        return float(known)
    return max(point.cores for point in calibration.worker_points)


def _cpu_cost(
    calibration: Calibration, path: str, cooling: float, draws: Draws
) -> CpuCost | None:
    by_workers = _free_points(calibration, path)
    if not by_workers:
        return None
    workers = sorted(by_workers)
    return CpuCost(
        workers=np.array(workers, dtype=np.float64),
        core_s=np.array([draws.of(by_workers[each]) for each in workers]),
        cooling=cooling,
    )


def _free_points(calibration: Calibration, path: str) -> dict[int, Interval]:
    """Return CPU-seconds per sample by data workers that had a core each, or came nearest."""
    points = [
        point
        for point in calibration.worker_points
        if point.path == path and point.cpu_s_per_sample.mean > 0
    ]
    most = max((point.cores / point.num_data_workers for point in points), default=1.0)
    return {
        point.num_data_workers: point.cpu_s_per_sample
        for point in points
        if point.cores >= min(1.0, most) * point.num_data_workers
    }


def _cooling(calibration: Calibration) -> float:
    """Return what being held back costs, from points that were, against those that were not."""
    found = []
    for point in calibration.worker_points:
        free = _free_points(calibration, point.path).get(point.num_data_workers)
        held = float(held_back(point.num_data_workers, point.cores))
        if held > 0 and free is not None and free.mean > 0:
            found.append((point.cpu_s_per_sample.mean / free.mean - 1) / held)
    return max(0.0, float(np.mean(found))) if found else 0.0


def new_draws(count: int = NUM_DRAWS) -> Draws:
    """Return draws that are the same each time."""
    return Draws(np.random.default_rng(_SEED), count)
