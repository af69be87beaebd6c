"""The catalog's instance types as columns, with this machine as the last row."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from smtc_lab.errors import CatalogError
from smtc_lab.launchers.planning import speed_units_of_type
from smtc_lab.spec.cluster import LOCAL

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from smtc_lab.catalog.catalog import Catalog
    from smtc_lab.spec.job import TrainingJob


@dataclass(frozen=True, kw_only=True, slots=True)
class TypeTable:
    """All instance types and ``local``, one row each. NaN: unknown."""

    row_of: dict[str, int]
    """Row of each type, by its name; ``local`` is the last one."""

    units: NDArray[np.float64]
    """vCPUs of one instance, weighted by their speed; 0 for ``local``, which has no quota."""

    vcpus: NDArray[np.float64]
    """vCPUs of one instance; NaN for ``local``."""

    threads_per_core: NDArray[np.float64]
    """vCPUs of one physical core; 1 for ``local``, and where it is unknown."""

    usd_per_hour: NDArray[np.float64]
    """Price of one instance in USD per hour; NaN for ``local``, which has none."""

    network_gbps: NDArray[np.float64]
    """Bandwidth between instances in Gbit/s; NaN for ``local``."""

    card_gbps: NDArray[np.float64]
    """Bandwidth of one network card of an instance in Gbit/s; NaN for ``local``."""

    devices: NDArray[np.float64]
    """Accelerators of one instance; 0 for ``local``, of which the catalog knows none."""

    has_accelerator: NDArray[np.bool_]
    """Whether the type has an accelerator; ``local`` counts as without one."""

    @property
    def local(self) -> int:
        """Row of this machine."""
        return len(self.units) - 1


def type_table(job: TrainingJob, catalog: Catalog) -> TypeTable:
    """Return the types of a catalog, with the CPU speeds that a job gives."""
    types = catalog.instance_types
    return TypeTable(
        row_of={name: row for row, name in enumerate((*types, LOCAL))},
        units=np.array([*(_units(job, catalog, name) for name in types), 0.0]),
        vcpus=np.array([*(float(each.vcpus) for each in types.values()), math.nan]),
        threads_per_core=np.array(
            [*(float(each.threads_per_core or 1) for each in types.values()), 1.0]
        ),
        usd_per_hour=_column(
            None if each.price is None else each.price.usd_per_hour for each in types.values()
        ),
        network_gbps=_column(each.network_gbps for each in types.values()),
        card_gbps=_column(each.card_gbps for each in types.values()),
        devices=np.array([*(float(each.accelerator_count) for each in types.values()), 0.0]),
        has_accelerator=np.array([*(each.has_accelerator for each in types.values()), False]),
    )


def _column(values: Iterable[float | None]) -> NDArray[np.float64]:
    """Return what is known of the types, and that nothing is of ``local``."""
    return np.array([math.nan if value is None else value for value in (*values, None)])


def _units(job: TrainingJob, catalog: Catalog, name: str) -> float:
    try:
        return speed_units_of_type(job, catalog.get(name))
    except CatalogError:
        return math.nan
