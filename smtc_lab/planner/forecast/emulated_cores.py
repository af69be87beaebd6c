"""Cores of emulated instances, as the model has them: vCPUs, and how fast one is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from smtc_lab.launchers.planning import ROUNDING

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smtc_lab.planner.forecast.type_table import TypeTable
    from smtc_lab.planner.model.setup import Numbers


def vcpus_of(
    rows: NDArray[np.intp],
    table: TypeTable,
    quota: NDArray[np.float64],
    cpus: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the cores of instances, and the speed of each: those of this machine, or vCPUs."""
    vcpus = table.vcpus[rows]
    is_here = np.isnan(quota)
    return np.where(is_here, cpus, vcpus), np.where(is_here, 1.0, quota / vcpus)


def quota_of(
    rows: NDArray[np.intp], table: TypeTable, scale: Numbers | None
) -> NDArray[np.float64]:
    """Return the CPU quota of an instance in cores; NaN: it has none."""
    if scale is None:
        return np.full(rows.shape, np.nan)
    return np.where(rows == table.local, np.nan, scale * table.units[rows])


def num_cpus_of(quota: NDArray[np.float64], cores: float) -> NDArray[np.float64]:
    """Return what instances take for their CPUs; those without a quota have all cores."""
    return np.maximum(1.0, np.ceil(np.where(np.isnan(quota), cores, quota) - ROUNDING))
