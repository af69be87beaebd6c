"""The catalog's instance types as columns, and what a plan trains with on each of them."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from smtc_lab.catalog.cpu_speed import relative_cpu_speed
from smtc_lab.errors import CatalogError
from smtc_lab.spec.cluster import LOCAL

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

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


@dataclass(frozen=True, kw_only=True, slots=True)
class TypeTable:
    """All instance types, one row each, and maybe this machine as the last. NaN: unknown."""

    types: tuple[InstanceType, ...]
    """The types of the catalog; this machine is none of them."""

    row_of: dict[str, int]
    """Row of each type, by its name; ``local`` is the last one."""

    vcpus: NDArray[np.float64]
    """vCPUs of one instance; the cores of this machine."""

    threads_per_core: NDArray[np.float64]
    """vCPUs of one physical core; 1 for this machine, and where that is unknown."""

    speed: NDArray[np.float64]
    """Speed of one vCPU; a core of the machine that it is told beside has 1."""

    speed_error: NDArray[np.float64]
    """Standard deviation of the logarithm of a type's speed."""

    card_gbps: NDArray[np.float64]
    """Bandwidth for batches in Gbit/s: they pass one network card."""

    network_gbps: NDArray[np.float64]
    """Bandwidth between several such instances in Gbit/s."""

    usd_per_hour: NDArray[np.float64]
    """Price of one instance in USD per hour."""

    accelerators: NDArray[np.float64]
    """Accelerators of one instance; 0 for this machine, of which the catalog knows none."""

    @property
    def local(self) -> int:
        """Row of this machine."""
        return len(self.types)


@dataclass(frozen=True, kw_only=True, slots=True)
class Offers(TypeTable):
    """All instance types, and what they train with; NaN: unknown."""

    devices: NDArray[np.float64]
    """Trainer processes on one instance; an emulated device stands for all accelerators, but
    where a plan is for any number of devices."""

    device_s: NDArray[np.float64]
    """Device time of one step where the user gave it, in seconds; NaN: as calibrated."""

    can_train: NDArray[np.bool_]
    """Whether the device time is known, from the calibration or the user."""

    is_extrapolated: NDArray[np.bool_]
    """Whether the device time is another than the calibrated one."""

    @property
    def is_cpu(self) -> NDArray[np.bool_]:
        """Whether it has no accelerator."""
        return np.equal(self.accelerators, 0)

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


def type_table(
    catalog: Catalog,
    overrides: Mapping[str, float],
    *,
    beside: float,
    cores: float | None = None,
) -> TypeTable:
    """Return the types of a catalog as columns.

    Args:
        catalog: The types.
        overrides: Speed of one vCPU by type or family, where the user knows it.
        beside: Speed of a core of the machine beside which speeds are told.
        cores: Cores of this machine; None: it has no row.

    Raises:
        CatalogError: A speed of the user is not a number above 0.
    """
    types = tuple(catalog.instance_types.values())
    speeds = [_speed(each, overrides) for each in types]

    def column(values: Iterable[float | None], here: float = math.nan) -> NDArray[np.float64]:
        known = [math.nan if value is None else value for value in values]
        return np.array(known if cores is None else [*known, here], dtype=float)

    return TypeTable(
        types=types,
        row_of={name: row for row, name in enumerate((*catalog.instance_types, LOCAL))},
        vcpus=column((each.vcpus for each in types), cores or 0.0),
        threads_per_core=column((each.threads_per_core or 1 for each in types), 1.0),
        speed=column((value / beside for value, _ in speeds), 1.0),
        speed_error=column((error for _, error in speeds), 0.0),
        card_gbps=column(each.card_gbps for each in types),
        network_gbps=column(each.network_gbps for each in types),
        usd_per_hour=column(
            None if each.price is None else each.price.usd_per_hour for each in types
        ),
        accelerators=column((each.accelerator_count for each in types), 0.0),
    )


def offers_of(calibration: Calibration, settings: PlanSettings, catalog: Catalog) -> Offers:
    """Return all instance types for one calibration.

    Raises:
        CatalogError: A relative CPU speed of the user is not a number above 0.
    """
    own = calibration.cpu_speed
    table = type_table(catalog, settings.relative_cpu_speed, beside=own.value)
    types, own_error = table.types, SPEED_ERROR[own.kind]
    device_s = np.array([_given_device_s(each, settings.device_s) for each in types])
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
    columns = {name: getattr(table, name) for name in TypeTable.__slots__}
    columns["speed_error"] = np.hypot(table.speed_error, own_error)
    return Offers(
        **columns,
        devices=np.ones(len(types)) if stands_for_all else np.maximum(1, table.accelerators),
        device_s=device_s,
        can_train=is_known | ~np.isnan(device_s),
        is_extrapolated=np.full(len(types), computes_on_cpu(calibration)) | ~np.isnan(device_s),
    )


def computes_on_cpu(calibration: Calibration) -> bool:
    """Return whether the CPUs of the calibrated machine computed the step."""
    return calibration.emulated_device_s is None and not calibration.machine.get("gpus")


def _given_device_s(each: InstanceType, given: Mapping[str, float]) -> float:
    for key in (each.name, each.family, each.accelerator):
        if key is not None and key in given:
            return given[key]
    return math.nan


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


def _speed(each: InstanceType, overrides: Mapping[str, float]) -> tuple[float, float]:
    try:
        speed = relative_cpu_speed(each, overrides)
    except CatalogError:
        if each.name in overrides or each.family in overrides:
            raise
        return math.nan, SPEED_ERROR["estimated"]
    return speed.value, SPEED_ERROR[speed.kind]
