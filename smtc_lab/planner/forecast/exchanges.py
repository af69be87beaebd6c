"""What every instance type would bring in the place of a group, in one call of the model."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING

import numpy as np

from smtc_lab.catalog.placed import placed
from smtc_lab.errors import SpecError
from smtc_lab.launchers.dilation import most_cores
from smtc_lab.planner.forecast.launched import LaidOut, laid_out, setup_of
from smtc_lab.spec.cluster import MAX_INSTANCE_GROUPS, InstanceGroup

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from smtc_lab.catalog.catalog import Catalog
    from smtc_lab.catalog.placed import Placed
    from smtc_lab.planner.forecast.launched import AskedSetUp, Surroundings
    from smtc_lab.planner.model.model import Model
    from smtc_lab.planner.offers import TypeTable
    from smtc_lab.spec.job import TrainingJob

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


def exchanges(asked: AskedSetUp, model: Model, around: Surroundings) -> tuple[Exchange, ...]:
    """Return what a set-up would be with other types, and with a data group that it lacks.

    Args:
        asked: The set-up.
        model: The model without draws, of its workload.
        around: Catalog and machine, with the speeds that the set-up gives.

    Returns:
        For each instance group what every type would be there, in the order of the catalog.
        Behind them what one more group would be, of 1 x ``FEEDER`` that prepares data, shape
        (1,): NaN where it has such a group, or as many groups as may be.

    Raises:
        PlannerError: Something that all of them need was not calibrated.
    """
    groups, table = asked.job.cluster.instance_groups, around.table
    changed = [
        each
        for place in range(len(groups))
        for each in _exchanged(asked.job, place, around.catalog, table)
    ]
    changed += _added(asked.job, around.catalog, table)
    shapes = [table.local] * len(groups) + [1]
    step_s = [np.full(shape, np.nan) for shape in shapes]
    usd_per_hour = [np.full(shape, np.nan) for shape in shapes]
    if changed:
        laid = LaidOut.joined([each.laid for each in changed])
        found_s = _step_s(asked, laid, around, model)
        begin = 0
        for each in changed:
            end = begin + len(each.columns)
            step_s[each.place][each.columns] = found_s[begin:end]
            usd_per_hour[each.place][each.columns] = each.laid.usd_per_hour(table)
            begin = end
    return tuple(
        Exchange(step_s=times_s, usd_per_1000_steps=times_s * usd * _PER_HOUR)
        for times_s, usd in zip(step_s, usd_per_hour, strict=True)
    )


def _exchanged(
    job: TrainingJob, place: int, catalog: Catalog, table: TypeTable
) -> Iterator[_Changed]:
    """Yield a cluster with each type in one place.

    Where processes are placed depends on the number of a type's accelerators alone.
    """
    groups, accelerators = job.cluster.instance_groups, table.accelerators[: table.local]
    for number in np.unique(accelerators):
        rows = np.flatnonzero(accelerators == number)
        one = groups[place].model_copy(update={"instance_type": table.types[rows[0]].name})
        where = _placed(job, (*groups[:place], one, *groups[place + 1 :]), catalog)
        if where is not None:
            laid = laid_out(where, table, place=place, rows=rows)
            yield _Changed(place=place, columns=rows, laid=laid)


def _added(job: TrainingJob, catalog: Catalog, table: TypeTable) -> Iterator[_Changed]:
    """Yield a cluster with a data group that it lacks."""
    groups = job.cluster.instance_groups
    if len(groups) >= MAX_INSTANCE_GROUPS or FEEDER not in table.row_of:
        return
    taken = {group.instance_group_name for group in groups}
    name = next(name for name in map("data_{}".format, count()) if name not in taken)
    where = _placed(job, (*groups, InstanceGroup(name, FEEDER, 1, role="data")), catalog)
    if where is not None and [each.role for each in where.groups].count("data") == 1:
        laid = laid_out(where, table)
        yield _Changed(place=len(groups), columns=np.zeros(1, dtype=np.intp), laid=laid)


def _placed(
    job: TrainingJob, groups: tuple[InstanceGroup, ...], catalog: Catalog
) -> Placed | None:
    """Return where a job is placed on other groups; None: it cannot run there."""
    cluster = job.cluster.model_copy(update={"instance_groups": groups})
    try:
        return placed(job.model_copy(update={"cluster": cluster}), catalog)
    except SpecError:
        return None


def _step_s(
    asked: AskedSetUp, laid: LaidOut, around: Surroundings, model: Model
) -> NDArray[np.float64]:
    """Return the mean step time of clusters, shape (K,)."""
    found = np.full(laid.trainers.shape, np.nan)
    declared_s = asked.emulation.device_step_time_s
    if (declared_s is None) != (model.calibration.emulated_device_s is None):
        return found
    table, most = around.table, most_cores(asked.emulation, around.cores)
    is_possible = laid.is_possible & (laid.cores(table) <= most)
    if model.inputs.remote is None:
        is_possible &= laid.data_instances == 0
    kept = np.flatnonzero(is_possible)
    if kept.size:
        own = model.calibration.script_num_workers
        setup = setup_of(
            asked.job, laid.pick(kept), table, emulation=asked.emulation, own_workers=own
        )
        found[kept] = model.times(setup).step_s[:, 0]
    return found
