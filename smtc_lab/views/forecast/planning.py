"""From the set-ups of a form to all clusters they could have. Heavy: import it in a thread.

It is asked for behind each forecast, and never holds one up. What does not depend on the
clusters that are typed is computed once for each calibration.
"""

from __future__ import annotations

import json
import threading
from collections import OrderedDict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from smtc_lab.catalog.roles import roles
from smtc_lab.errors import CatalogError, PlannerError, SpecError
from smtc_lab.planner.outlook import Outlook
from smtc_lab.planner.plan import plan
from smtc_lab.planner.plan_settings import settings_of
from smtc_lab.views.forecast.catalog_plan import (
    CatalogPlan,
    CatalogPlans,
    PlacedSetUp,
    PlannedGroup,
)
from smtc_lab.views.forecast.typed import read_set_up
from smtc_lab.views.plan.describer import describe_plan, shown_candidates

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence
    from pathlib import Path

    from smtc_lab.catalog.catalog import Catalog
    from smtc_lab.planner.calibration.calibration import Calibration
    from smtc_lab.planner.model.prediction import Candidate
    from smtc_lab.spec.emulation import EmulatedLink
    from smtc_lab.spec.job import TrainingJob
    from smtc_lab.views.forecast.typed import TypedSetUp

_MOST_KEPT = 8
_NO_PLACE = "It has no place among the clusters of the catalog: {}"
_MISSING = "It has no place among the clusters of the catalog before it is calibrated."


@dataclass(frozen=True)
class _PlannedWorkload:
    """What all clusters of one plan have in common."""

    calibration: Calibration
    """What predicts them."""

    device_s: tuple[tuple[str, float], ...]
    """Declared seconds per step of each accelerator, where they are not the calibrated ones."""

    relative_cpu_speed: tuple[tuple[str, float], ...]
    """CPU speeds of the user."""

    link: EmulatedLink | None
    """Declared network between trainers; None: the catalog's."""

    num_devices: int = 1
    """Devices of each cluster, so that a step does the same work on all of them."""

    def outlook(self, catalog: Catalog) -> Outlook:
        """Return what predicts any cluster of the catalog."""
        settings = settings_of(
            catalog,
            "on-demand",
            **self.calibration.device_settings(dict(self.device_s)),
            relative_cpu_speed=dict(self.relative_cpu_speed),
            link=self.link,
        )
        return Outlook(self.calibration, settings, catalog)

    def key(self, catalog: Catalog) -> Hashable:
        """Return what its plan is known by; prices are refreshed, calibrations renewed."""
        made = self.calibration
        known = (made.created, made.workload, made.emulated_device_s)
        given = (self.device_s, self.relative_cpu_speed, self.link)
        return (known, given, self.num_devices, id(catalog))


class _KeptPlans:
    """The newest plans, each made once. May be used by several threads."""

    def __init__(self) -> None:
        self._plans: OrderedDict[Hashable, tuple[Catalog, CatalogPlan]] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, workload: _PlannedWorkload, catalog: Catalog) -> CatalogPlan:
        """Return the plan of a workload.

        Raises:
            PlannerError: No cluster can be predicted.
        """
        key = workload.key(catalog)
        with self._lock:
            kept = self._plans.get(key)
        if kept is not None:
            return kept[1]
        made = _plan(workload, catalog)
        with self._lock:
            self._plans[key] = (catalog, made)  # which must stay, as its id is in the key
            while len(self._plans) > _MOST_KEPT:
                self._plans.popitem(last=False)
        return made


_KEPT = _KeptPlans()


def catalog_plans(
    value: Sequence[object], *, catalog: Catalog, folder: Path | None = None
) -> CatalogPlans:
    """Return all clusters that the set-ups of a form could have, and where they are themselves.

    Args:
        value: Each a ``TrainingJob`` as JSON, legal or not; the baseline first.
        catalog: Instance types and prices.
        folder: Folder from which relative paths count; None: that of this process.
    """
    plans: dict[Hashable, tuple[int, CatalogPlan]] = {}
    placed = []
    for each in value:
        try:
            placed.append(_placed(read_set_up(each, folder), catalog, plans))
        except (PlannerError, CatalogError, SpecError) as error:
            placed.append(PlacedSetUp(plan=None, problem=_NO_PLACE.format(error)))
        except (ArithmeticError, ValueError) as error:
            why = f"its calibration holds numbers that no machine measures ({error})."
            placed.append(PlacedSetUp(plan=None, problem=_NO_PLACE.format(why)))
    return CatalogPlans(
        of=json.dumps(value),
        plans=tuple(made for _, made in plans.values()),
        set_ups=tuple(placed),
    )


def _placed(
    typed: TypedSetUp, catalog: Catalog, plans: dict[Hashable, tuple[int, CatalogPlan]]
) -> PlacedSetUp:
    """Return where a set-up is; its plan is added to those that are known."""
    if typed.asked is None:
        return PlacedSetUp(plan=None, problem=typed.problem)
    if typed.model is None:
        return PlacedSetUp(plan=None, problem=_MISSING)
    job = typed.asked.job
    workload = _workload(job, typed.model.calibration, catalog)
    outlook = workload.outlook(catalog)
    rows = outlook.clusters_of(
        job.cluster,
        num_loader_workers=job.num_loader_workers,
        num_data_workers=job.num_data_workers,
    )
    (candidate,) = outlook.candidates(rows)
    devices = round(float(rows.trainers[0] * outlook.offers.devices[rows.trainer[0]]))
    workload = replace(workload, num_devices=devices)
    key = workload.key(catalog)
    if key not in plans:
        plans[key] = (len(plans), _KEPT.of(workload, catalog))
    said = candidate.prediction
    return PlacedSetUp(
        plan=plans[key][0],
        step_time_s=said.step_time_s,
        usd_per_1000_steps=said.usd_per_1000_steps,
    )


def _workload(job: TrainingJob, calibration: Calibration, catalog: Catalog) -> _PlannedWorkload:
    emulation = job.emulation
    declared_s = None if emulation is None else emulation.device_step_time_s
    is_other = declared_s is not None and declared_s != calibration.emulated_device_s
    if calibration.device_times:  # others have no time, but where the set-up says it
        types = [catalog.get(group.instance_type) for group in job.cluster.instance_groups]
    else:
        types = list(catalog.instance_types.values()) if is_other else []
    accelerators = {each.accelerator for each in types}
    speeds = {} if emulation is None else emulation.relative_cpu_speed
    return _PlannedWorkload(
        calibration=calibration,
        device_s=tuple((name, declared_s) for name in sorted(filter(None, accelerators)))
        if declared_s is not None
        else (),
        relative_cpu_speed=tuple(sorted(speeds.items())),
        link=None if emulation is None else emulation.link,
    )


def _plan(workload: _PlannedWorkload, catalog: Catalog) -> CatalogPlan:
    made = plan(
        workload.calibration,
        catalog=catalog,
        num_devices=workload.num_devices,
        max_trainers=workload.num_devices,
        device_s=dict(workload.device_s),
        relative_cpu_speed=dict(workload.relative_cpu_speed),
        link=workload.link,
    )
    info = describe_plan(made)
    points = tuple(replace(point, notes=(), explanation="", code="") for point in info.points)
    return CatalogPlan(
        plan=replace(info, points=points),
        groups=tuple(_groups(each, catalog) for each in shown_candidates(made)),
    )


def _groups(candidate: Candidate, catalog: Catalog) -> tuple[PlannedGroup, ...]:
    role_of = roles(candidate.cluster, catalog)
    return tuple(
        PlannedGroup(
            instance_type=group.instance_type,
            instance_count=group.instance_count,
            role=role_of[group.instance_group_name],
        )
        for group in candidate.cluster.instance_groups
    )
