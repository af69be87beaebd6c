"""Decides whether data instances reduce gradients, where a job leaves that open."""

from __future__ import annotations

import math
import pkgutil
from typing import TYPE_CHECKING, Any

from smtc_lab.catalog.roles import instances_of_roles, roles
from smtc_lab.metrics.communication.reducing import LEAST_GAIN, launched_share
from smtc_lab.spec.distribution import Distribution

if TYPE_CHECKING:
    from collections.abc import Iterable

    from _typeshed import StrPath

    from smtc_lab.catalog.catalog import Catalog
    from smtc_lab.spec.cluster import Role
    from smtc_lab.spec.job import TrainingJob

REDUCTION = "reduction"
"""Name of what the facts of a plan say of that decision."""


_PLANNER = "smtc_lab.planner.launching.reduction:judged_by_calibration"
"""Who asks a calibration. The planner stands above launchers, and is looked up by its name."""


def with_reduction(
    job: TrainingJob, catalog: Catalog, *, root: StrPath | None = None
) -> tuple[TrainingJob, dict[str, Any]]:
    """Return a job whose ``reduce_on="auto"`` is decided, and why; any other as it is.

    A calibration of the script decides, where there is one. Else the planner's formula does,
    with the network that is declared, or with the catalog's.

    Args:
        job: The job.
        catalog: Where the instance types are looked up.
        root: Folder of runs, beside which calibrations are kept; None: the default one.
    """
    spread = job.distribution
    if not isinstance(spread, Distribution) or spread.reduce_on != "auto":
        return job, {}
    pays, why = _judged(job, catalog, root)
    decided = spread.model_copy(update={"reduce_on": "data_group" if pays else None})
    verb = "reduce" if pays else "do not reduce"
    said = f"Data instances {verb} gradients: {why}."
    return job.model_copy(update={"distribution": decided}), {REDUCTION: said}


def _judged(job: TrainingJob, catalog: Catalog, root: StrPath | None) -> tuple[bool, str]:
    """Return whether reducing on data instances pays, and a clause that says why."""
    counts = instances_of_roles(job.cluster, catalog)
    trainers, reducers = counts["train"], counts["data"]
    if not reducers:
        return False, "there are none"
    if trainers <= 2:
        return False, "with one or two training instances a ring is as fast"
    by_calibration: tuple[bool, str] | None = pkgutil.resolve_name(_PLANNER)(
        job, catalog, root=root
    )
    if by_calibration is not None:
        return by_calibration
    link = None if job.emulation is None else job.emulation.link
    if link is not None and link.between_gbps is not None:
        gbps = {"train": link.between_gbps, "data": link.between_gbps}
    else:
        role_of = roles(job.cluster, catalog)
        gbps = {role: _rated_gbps(job, role, role_of, catalog) for role in ("train", "data")}
    if any(map(math.isnan, gbps.values())):
        return False, "the network between the instances is not known"
    share = float(
        launched_share(trainers, reducers, trainer_gbps=gbps["train"], data_gbps=gbps["data"])
    )
    return share <= 1 - LEAST_GAIN, (
        f"while they are idle, {reducers} of them let {trainers} training instances exchange "
        f"gradients in {share:.2f} of the time of a ring, by the network alone, as the script "
        "is not calibrated"
    )


def _rated_gbps(
    job: TrainingJob, role: str, role_of: dict[str, Role], catalog: Catalog
) -> float:
    """Return the least bandwidth of the types of a role in Gbit/s; NaN: one is not known."""
    found = [
        catalog.instance_types.get(group.instance_type)
        for group in job.cluster.instance_groups
        if role_of[group.instance_group_name] == role
    ]
    return _least(None if each is None else each.network_gbps for each in found)


def _least(values: Iterable[float | None]) -> float:
    known = [math.nan if value is None else value for value in values]
    return math.nan if any(map(math.isnan, known)) else min(known)
