"""What a form is told of all clusters that its set-ups could have. Goes to the browser as JSON.

``smtc_lab.views.wire_schema`` tells TypeScript of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from smtc_lab.planner.intervals import Estimate  # noqa: TC001  pydantic reads it
from smtc_lab.spec.cluster import Role  # noqa: TC001  pydantic reads it
from smtc_lab.views.plan.info import PlanInfo  # noqa: TC001  pydantic reads it
from smtc_lab.views.text.json_values import json_values

CATALOG_PLANS_VERSION: Literal[1] = 1
"""Version of ``CatalogPlans``; another one means another front end."""


@dataclass(frozen=True, kw_only=True)
class PlannedGroup:
    """One instance group of a cluster of a plan."""

    instance_type: str
    """Name of its type."""

    instance_count: int
    """How many instances, at least 1."""

    role: Role
    """Whether its instances train or prepare data."""


@dataclass(frozen=True, kw_only=True)
class CatalogPlan:
    """The clusters of the catalog for one workload, in time against cost."""

    plan: PlanInfo
    """The clusters, as a plan predicts them: on their own instances, without an emulation. What
    is said of each in sentences is left out."""

    groups: tuple[tuple[PlannedGroup, ...], ...]
    """The instance groups of each of its points, in their order."""


@dataclass(frozen=True, kw_only=True)
class PlacedSetUp:
    """Where a set-up is among the clusters of the catalog."""

    plan: int | None
    """Place of the plan whose clusters do the same work in a step; None: there is none."""

    problem: str = ""
    """Why it has no place, and what to do; empty: it has one."""

    step_time_s: Estimate | None = None
    """Time of one step on its own instances, in seconds; None: unknown."""

    usd_per_1000_steps: Estimate | None = None
    """Cost of 1,000 steps in USD; None: unknown."""


@dataclass(frozen=True, kw_only=True)
class CatalogPlans:
    """What a form is told of all clusters that its set-ups could have."""

    version: Literal[1] = CATALOG_PLANS_VERSION
    """Version of this description."""

    of: str = ""
    """The set-ups as JSON, as they were when it was made; empty: nobody asked yet."""

    plans: tuple[CatalogPlan, ...] = ()
    """One for each workload that is calibrated and each number of devices."""

    set_ups: tuple[PlacedSetUp, ...] = ()
    """Where each set-up is, in their order."""

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return json_values(self)
