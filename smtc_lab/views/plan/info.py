"""What every view of a plan shows of it. Goes to the browser, and into notebooks, as JSON.

``smtc_lab.views.wire_schema`` tells TypeScript of it; both read
``tests/fixtures/plan_info.json``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from smtc_lab.metrics.interval_json import IntervalJson
from smtc_lab.metrics.result import Interval
from smtc_lab.planner.intervals import Estimate  # noqa: TC001  pydantic reads it
from smtc_lab.planner.model.prediction import Stage  # noqa: TC001  pydantic reads it
from smtc_lab.views.text.json_values import json_values

PLAN_INFO_VERSION: Literal[1] = 1
"""Version of ``PlanInfo``; another one means another front end."""

Evidence = Literal["measured", "emulated", "predicted", "extrapolated", "estimated"]
"""Where a point comes from."""


Observed = Annotated[Interval, IntervalJson(level=0.95, evidence="unknown")]
"""What was seen of a run, beside what was predicted."""


@dataclass(frozen=True, kw_only=True)
class PointInfo:
    """One cluster of a plan, predicted."""

    label: str
    """Its instances: ``1 x ml.p3.2xlarge + 2 x ml.c5.9xlarge``, with a multiplication sign."""

    is_heterogeneous: bool
    """Whether it has instances that prepare data."""

    names: tuple[str, ...]
    """``best``, ``cheapest``, ``fastest``, ``knee``, where it is that."""

    is_pareto: bool
    """Whether no other cluster is both faster and cheaper."""

    evidence: Evidence
    """``predicted``, ``extrapolated`` or ``estimated``."""

    step_time_s: Estimate
    """Time of one step in seconds."""

    usd_per_hour: float | None
    """Price of all instances in USD per hour; None: unknown."""

    usd_per_1000_steps: Estimate | None
    """Cost of 1,000 steps in USD; None: unknown."""

    job_s: Estimate | None
    """Time of all steps with start-up, compiling and end, in seconds; None: unknown."""

    usd_per_job: Estimate | None
    """Cost of that in USD; None: unknown."""

    bottleneck: Stage
    """The stage that takes longest."""

    is_near_tie: bool
    """Whether another stage takes almost as long."""

    stages_s: dict[Stage, float | None]
    """Seconds per step of each stage; they work at the same time. None: unknown."""

    utilization: dict[Stage, float | None]
    """Share of the step time in which each stage works, 0 to 1; None: unknown."""

    price: str
    """Kind and date of its prices, in words."""

    is_price_old: bool
    """Whether a price is older than 90 days."""

    notes: tuple[str, ...]
    """Why a figure is unknown, and what to keep in mind; sentences."""

    explanation: str
    """What limits it, and what to try next; empty: not asked for."""

    code: str
    """The Python that launches it; empty: not asked for."""


@dataclass(frozen=True, kw_only=True)
class MeasuredInfo:
    """A run of the workload, beside what was predicted of its cluster."""

    label: str
    """Its instances."""

    job_name: str
    """Name of the run."""

    is_heterogeneous: bool
    """Whether it had instances that prepare data."""

    has_ended: bool
    """Whether the run was over when it was measured."""

    evidence: Evidence
    """``measured`` or ``emulated``."""

    step_time_s: Observed
    """Mean step time behind the warm-up, with its 95 % interval, in seconds."""

    predicted_s: Estimate
    """What was predicted, with its 80 % interval, in seconds."""

    error_fraction: float
    """(predicted - measured) / measured. 0.05: 5 % too slow was predicted."""

    usd_per_1000_steps: Observed | None
    """Cost of 1,000 steps in USD; None: a price is unknown."""


@dataclass(frozen=True, kw_only=True)
class PlanInfo:
    """Everything that a view shows of a plan. Texts are data of users."""

    version: Literal[1] = PLAN_INFO_VERSION
    """Version of this description."""

    entry_point: str
    """The script."""

    steps: int | None
    """Steps of the job; None: not given, and so neither job time nor job cost is known."""

    sentence: str
    """What the plan recommends, in one sentence."""

    limits: str
    """What was asked for: budget, deadline, families; empty: nothing."""

    budget_usd_per_hour: float | None
    """Most that a cluster may cost in an hour, in USD; None: no limit."""

    budget_usd: float | None
    """Most that the whole job may cost, in USD; None: no limit."""

    deadline_s: float | None
    """Longest that the whole job may take, in seconds; None: no limit."""

    basis: str
    """What was calibrated, where and when."""

    points: tuple[PointInfo, ...]
    """The clusters, fastest first: all that no other one beats, and some of the others."""

    num_candidates: int
    """Clusters within the limits, those that are not among ``points`` too."""

    measured: tuple[MeasuredInfo, ...]
    """Runs that the plan was compared with."""

    notes: tuple[str, ...]
    """What was refused and why, and what the calibration could not measure; sentences."""

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return json_values(self)
