"""The catalog's instance types as the model sees them: one row of numbers for each."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from smtc_lab.catalog.cpu_speed import relative_cpu_speed
from smtc_lab.errors import CatalogError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from smtc_lab.catalog.catalog import Catalog
    from smtc_lab.catalog.instance_types import InstanceType
    from smtc_lab.planner.calibration.calibration import Calibration
    from smtc_lab.planner.plan_settings import PlanSettings

SPEED_ERROR: Mapping[str, float] = {"measured": 0.10, "estimated": 0.15, "user": 0.05}
"""Standard deviation of the logarithm of a CPU's speed, by how it is known. Assumed, so that
two CPUs of the table differ from the truth by 14 % in the median."""

ACCELERATOR_LINK_GBPS = 1200.0
"""Bandwidth between accelerators of one instance in Gbit/s. Assumed (NVLink)."""


@dataclass(frozen=True, slots=True)
class Offers:
    """All instance types, one row each; NaN: unknown."""

    types: tuple[InstanceType, ...]
    """The types."""

    vcpus: NDArray[np.float64]
    """vCPUs."""

    threads_per_core: NDArray[np.float64]
    """vCPUs of one physical core; 1 where that is unknown."""

    speed: NDArray[np.float64]
    """Speed of one vCPU beside one core of the calibrated machine."""

    speed_error: NDArray[np.float64]
    """Standard deviation of its logarithm."""

    gbps: NDArray[np.float64]
    """Bandwidth for batches in Gbit/s: they pass one network card."""

    link_gbps: NDArray[np.float64]
    """Bandwidth between the accelerators of several such instances in Gbit/s."""

    usd_per_hour: NDArray[np.float64]
    """Price of one instance in USD per hour."""

    devices: NDArray[np.float64]
    """Trainer processes on one instance; an emulated device stands for all accelerators, but
    where a plan is for any number of devices."""

    device_s: NDArray[np.float64]
    """Device time of one step where the user gave it, in seconds; NaN: as calibrated."""

    can_train: NDArray[np.bool_]
    """Whether the device time is known, from the calibration or the user."""

    is_extrapolated: NDArray[np.bool_]
    """Whether the device time is another than the calibrated one."""

    is_cpu: NDArray[np.bool_]
    """Whether it has no accelerator."""

    def told_device_s(
        self, rows: NDArray[np.intp], declared_s: float | None
    ) -> NDArray[np.float64]:
        """Return the device time of a step that nothing measured, in seconds; NaN: it was.

        Args:
            rows: Types.
            declared_s: Of the device that was emulated while calibrating, which stands for any
                that has no time of its own; None: none was.
        """
        given_s = self.device_s[rows]
        return (
            given_s if declared_s is None else np.where(np.isnan(given_s), declared_s, given_s)
        )

    def without_time(self, which: NDArray[np.bool_]) -> str:
        """Return of which accelerators among some types the device time is unknown."""
        names = {
            self.types[row].accelerator or "CPUs"
            for row in np.flatnonzero(which & ~self.can_train)
        }
        return f"device time unknown on {', '.join(sorted(names))} (device_s, --device-time)"

    def index(self, name: str) -> int:
        """Return the row of a type; the catalog has checked its name."""
        return next(row for row, each in enumerate(self.types) if each.name == name)


def offers_of(calibration: Calibration, settings: PlanSettings, catalog: Catalog) -> Offers:
    """Return all instance types for one calibration.

    Raises:
        CatalogError: A relative CPU speed of the user is not a number above 0.
    """
    types = tuple(catalog.instance_types.values())
    speeds = [_speed(each, settings.relative_cpu_speed) for each in types]
    own = calibration.cpu_speed
    own_error = SPEED_ERROR[own.kind]
    device_s = _column([_given_device_s(each, settings.device_s) for each in types])
    is_emulated = calibration.emulated_device_s is not None
    knows_device = _known_devices(calibration)
    is_known = np.array([knows_device(each) for each in types])
    if is_emulated:
        if settings.only_device_s:
            is_known = ~np.isnan(device_s)
        device_s[device_s == calibration.emulated_device_s] = (
            np.nan
        )  # it is what was calibrated
    stands_for_all = is_emulated and settings.num_devices is not None
    return Offers(
        types=types,
        vcpus=_column([each.vcpus for each in types]),
        threads_per_core=_column([each.threads_per_core or 1 for each in types]),
        speed=_column([value for value, _ in speeds]) / own.value,
        speed_error=np.array([math.hypot(error, own_error) for _, error in speeds]),
        gbps=_column([each.card_gbps for each in types]),
        link_gbps=_column([each.network_gbps for each in types]),
        usd_per_hour=_column(
            [None if each.price is None else each.price.usd_per_hour for each in types]
        ),
        devices=_column(
            [1 if stands_for_all else max(1, each.accelerator_count) for each in types]
        ),
        device_s=device_s,
        can_train=is_known | ~np.isnan(device_s),
        is_extrapolated=np.full(len(types), computes_on_cpu(calibration)) | ~np.isnan(device_s),
        is_cpu=np.array([not each.has_accelerator for each in types]),
    )


def computes_on_cpu(calibration: Calibration) -> bool:
    """Return whether the CPUs of the calibrated machine computed the step."""
    return calibration.emulated_device_s is None and not calibration.machine.get("gpus")


def _column(values: list[float | None] | list[float] | list[int]) -> NDArray[np.float64]:
    return np.array([math.nan if value is None else value for value in values], dtype=float)


def _speed(each: InstanceType, overrides: Mapping[str, float]) -> tuple[float | None, float]:
    try:
        speed = relative_cpu_speed(each, overrides)
    except CatalogError:
        if each.name in overrides or each.family in overrides:
            raise
        return None, SPEED_ERROR["estimated"]
    return speed.value, SPEED_ERROR[speed.kind]


def _given_device_s(each: InstanceType, given: Mapping[str, float]) -> float | None:
    for key in (each.name, each.family, each.accelerator):
        if key is not None and key in given:
            return given[key]
    return None


def _known_devices(calibration: Calibration) -> Callable[[InstanceType], bool]:
    """Return which types have the calibrated device.

    An emulated device stands for whatever accelerator a cluster has, as it does in a
    comparison. A GPU is known by its name. Without either the CPU computes the step.
    """
    if calibration.emulated_device_s is not None:
        return lambda each: each.has_accelerator
    gpus = calibration.machine.get("gpus")
    if not gpus:
        return lambda each: not each.has_accelerator
    words = set(re.split(r"[\s_-]+", str(gpus[0]).upper()))

    def has_that_gpu(each: InstanceType) -> bool:
        model = (each.accelerator or "").upper().split()[1:]
        return bool(model) and words.issuperset(model)

    return has_that_gpu
