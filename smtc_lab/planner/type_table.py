"""Instance types as columns: what every prediction of many clusters at once is made of."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from smtc_lab.catalog.cpu_speed import relative_cpu_speed
from smtc_lab.errors import CatalogError
from smtc_lab.spec.cluster import LOCAL

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray

    from smtc_lab.catalog.catalog import Catalog
    from smtc_lab.catalog.instance_types import InstanceType

SPEED_ERROR: Mapping[str, float] = {"measured": 0.10, "estimated": 0.15, "user": 0.05}
"""Standard deviation of the logarithm of a CPU's speed, by how it is known. Assumed, so that
two CPUs of the table differ from the truth by 14 % in the median."""


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


def _speed(each: InstanceType, overrides: Mapping[str, float]) -> tuple[float, float]:
    try:
        speed = relative_cpu_speed(each, overrides)
    except CatalogError:
        if each.name in overrides or each.family in overrides:
            raise
        return math.nan, SPEED_ERROR["estimated"]
    return speed.value, SPEED_ERROR[speed.kind]
