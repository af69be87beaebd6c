"""A calibration as numbers that the model computes with, each with draws of its interval."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from smtc_lab.errors import PlannerError
from smtc_lab.planner.calibration.parts import ASSUMED_SPREAD
from smtc_lab.planner.model.all_reduce import link_of, step_quantiles
from smtc_lab.planner.model.buckets import gradients_of
from smtc_lab.planner.model.cpu_cost import cpu_costs
from smtc_lab.planner.model.draws import Draws, LaunchDraws

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smtc_lab.planner.calibration.calibration import Calibration
    from smtc_lab.planner.calibration.parts import DevicePoint
    from smtc_lab.planner.model.all_reduce import RingLink
    from smtc_lab.planner.model.buckets import Gradients
    from smtc_lab.planner.model.cpu_cost import CpuCost


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

    gradients: Gradients | None
    """What all-reduce moves; None: not measured."""

    link: RingLink | None
    """All-reduce between processes of the calibrated machine, with its draws; None: not
    measured."""

    step_quantiles: tuple[float, ...]
    """How the steps of one rank spread, from the shortest to the longest; empty: not
    measured."""

    cores: float
    """Cores of the calibrated machine."""

    own_slowness: NDArray[np.float64]
    """Time that the CPU work of one launch takes beside the mean of all launches."""

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
            "them no step time can be predicted."
            f"{_bound(calibration, missing)} Calibrate again."
        )
    points = sorted(calibration.device_points, key=lambda point: point.batch_size)
    is_emulated = calibration.emulated_device_s is not None
    is_device_cpu = not is_emulated and not calibration.machine.get("gpus")
    cores = _cores(calibration)
    launches = LaunchDraws(calibration.launch_spread or ASSUMED_SPREAD, draws.count)
    local, remote = cpu_costs(calibration.worker_points, draws, launches)
    return ModelInputs(
        batch_size=calibration.batch_size,
        local=local,
        remote=remote,
        bytes_per_sample=calibration.bytes_per_sample,
        receive_core_s=(calibration.receive_cpu_s_per_byte or 0.0)
        * (calibration.bytes_per_sample or 0.0),
        serial_s=draws.of(calibration.serial_s_per_step) * launches.slowness(),
        device_sizes=np.array([point.batch_size for point in points], dtype=np.float64),
        device_s=tuple(
            draws.of(point.step_s) * (launches.slowness() if is_device_cpu else 1.0)
            for point in points
        ),
        device_overhead_s=_overhead_s(points, calibration.emulated_device_s),
        host_core_s=tuple(
            # passes that were computed in place of a declared device are the device's
            _host_core_s(point, draws, cores if is_device_cpu else 0.0)
            * (0.0 if is_emulated else launches.slowness())
            for point in points
        ),
        is_device_cpu=is_device_cpu,
        is_synchronous=is_emulated or is_device_cpu,
        gradients=gradients_of(calibration),
        link=link_of(calibration, draws),
        step_quantiles=step_quantiles(points),
        cores=cores,
        own_slowness=launches.slowness(),
    )


def _bound(calibration: Calibration, missing: str) -> str:
    """Return what whole runs say of a device time that was not measured."""
    if missing != "device_points" or not calibration.run_points:
        return ""
    least_s = min(point.step_time_s.mean for point in calibration.run_points)
    return (
        " Whole runs tell no more of the device than that it takes at most "
        f"{least_s:.3g} s a step: add device_points, of steps with resident data."
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
