"""What every instance type would bring in the place of a group, in one call of the model."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING

import numpy as np

from smtc_lab.catalog.own_cpu_speed import own_cpu_speed
from smtc_lab.catalog.roles import roles
from smtc_lab.errors import SpecError
from smtc_lab.launchers.dilation import most_units
from smtc_lab.planner.forecast.launched import LaidOut, fits_distribution, laid_out, setup_of
from smtc_lab.spec.cluster import MAX_INSTANCE_GROUPS, Cluster, InstanceGroup

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smtc_lab.catalog.catalog import Catalog
    from smtc_lab.planner.forecast.launched import AskedSetUp, Surroundings
    from smtc_lab.planner.forecast.type_table import TypeTable
    from smtc_lab.planner.model.model import Model

FEEDER = "ml.c5.9xlarge"
"""Type of the data group that a form adds to a cluster without one."""

_PER_HOUR = 1000 / 3600


@dataclass(frozen=True, kw_only=True, slots=True)
class Exchange:
    """What clusters would be, shape (K,). NaN: the model cannot say."""

    step_s: NDArray[np.float64]
    """Mean step time in seconds."""

    usd_per_1000_steps: NDArray[np.float64]
    """Mean cost of 1,000 steps in USD; NaN also where a price is unknown."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Changed:
    """Clusters that differ from a set-up in one place."""

    place: int
    """The group that is exchanged; behind the last one: a group is added."""

    columns: NDArray[np.intp]
    """Where the clusters stand among the types of the catalog."""

    laid: LaidOut
    """The clusters."""


def exchanges(
    asked: AskedSetUp,
    model: Model,
    table: TypeTable,
    around: Surroundings,
) -> tuple[Exchange, ...]:
    """Return what a set-up would be with other types, and with a data group that it lacks.

    Args:
        asked: The set-up.
        model: The model without draws, of its workload.
        table: The instance types, with the speeds that the set-up gives.
        around: Catalog and machine.

    Returns:
        For each instance group what every type would be there, in the order of the catalog.
        Behind them what one more group would be, of 1 x ``FEEDER`` that prepares data, shape
        (1,): NaN where it has such a group, or as many groups as may be.

    Raises:
        PlannerError: Something that all of them need was not calibrated.
    """
    groups = asked.job.cluster.instance_groups
    changed = [
        each
        for place in range(len(groups))
        for each in _exchanged(groups, place, around.catalog, table)
    ]
    changed += _added(groups, around.catalog, table)
    shapes = [table.local] * len(groups) + [1]
    step_s = [np.full(shape, np.nan) for shape in shapes]
    usd_per_hour = [np.full(shape, np.nan) for shape in shapes]
    if changed:
        laid = LaidOut.joined([each.laid for each in changed])
        found_s = _step_s(asked, laid, around, model, table)
        begin = 0
        for each in changed:
            end = begin + len(each.columns)
            step_s[each.place][each.columns] = found_s[begin:end]
            usd_per_hour[each.place][each.columns] = each.laid.usd_per_hour
            begin = end
    return tuple(
        Exchange(step_s=times_s, usd_per_1000_steps=times_s * usd * _PER_HOUR)
        for times_s, usd in zip(step_s, usd_per_hour, strict=True)
    )


def _exchanged(
    groups: tuple[InstanceGroup, ...], place: int, catalog: Catalog, table: TypeTable
) -> list[_Changed]:
    """Return a cluster with each type in one place; roles depend on who has an accelerator."""
    names, found = catalog.names(), []
    for has_accelerator in (True, False):
        columns = np.flatnonzero(table.has_accelerator[:-1] == has_accelerator)
        if not columns.size:
            continue
        one = groups[place].model_copy(update={"instance_type": names[columns[0]]})
        others = [np.full(len(columns), table.row_of[each.instance_type]) for each in groups]
        rows = [*others[:place], columns, *others[place + 1 :]]
        laid = _laid((*groups[:place], one, *groups[place + 1 :]), rows, catalog, table)
        if laid is not None:
            found.append(_Changed(place=place, columns=columns, laid=laid))
    return found


def _added(
    groups: tuple[InstanceGroup, ...], catalog: Catalog, table: TypeTable
) -> list[_Changed]:
    """Return a cluster with a data group that it lacks."""
    has_data = "data" in roles(Cluster(instance_groups=groups), catalog).values()
    if has_data or len(groups) >= MAX_INSTANCE_GROUPS or FEEDER not in table.row_of:
        return []
    taken = {group.instance_group_name for group in groups}
    name = next(name for name in map("data_{}".format, count()) if name not in taken)
    more = (*groups, InstanceGroup(name, FEEDER, 1, role="data"))
    rows = [np.array([table.row_of[group.instance_type]]) for group in more]
    laid = _laid(more, rows, catalog, table)
    if laid is None:
        return []
    return [_Changed(place=len(groups), columns=np.zeros(1, dtype=np.intp), laid=laid)]


def _laid(
    groups: tuple[InstanceGroup, ...],
    rows: list[NDArray[np.intp]],
    catalog: Catalog,
    table: TypeTable,
) -> LaidOut | None:
    try:
        role_of = roles(Cluster(instance_groups=groups), catalog)
    except SpecError:  # nothing would train
        return None
    return laid_out(groups, rows, role_of, table)


def _step_s(
    asked: AskedSetUp, laid: LaidOut, around: Surroundings, model: Model, table: TypeTable
) -> NDArray[np.float64]:
    """Return the mean step time of clusters, shape (K,)."""
    declared_s = asked.emulation.device_step_time_s
    found = np.full(laid.units.shape, np.nan)
    if (declared_s is None) != (model.calibration.emulated_device_s is None):
        return found
    is_possible = laid.is_possible & fits_distribution(asked.job, laid, table)
    is_possible &= laid.units <= most_units(asked.emulation, cores=around.cores)
    if model.inputs.remote is None:
        is_possible &= laid.data_instances == 0
    kept = np.flatnonzero(is_possible)
    if kept.size:
        setup = setup_of(
            asked.job,
            laid,
            table,
            scale=1 / own_cpu_speed().value,
            device_s=declared_s,
            link=asked.emulation.link,
            cores=around.cores,
            own_workers=model.calibration.script_num_workers,
        )
        found[kept] = model.times(setup.pick(kept)).step_s[:, 0]
    return found
