"""What a form is told of its set-ups before they run. Goes to the browser as JSON.

``smtc_lab.views.wire_schema`` tells TypeScript of it; both read
``tests/fixtures/forecast.json``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from smtc_lab.planner.intervals import Estimate  # noqa: TC001  pydantic reads it
from smtc_lab.planner.model.prediction import Stage  # noqa: TC001  pydantic reads it
from smtc_lab.views.forecast.calibrator import Calibrating  # noqa: TC001  pydantic reads it
from smtc_lab.views.live.part_use import PartUse  # noqa: TC001  pydantic reads it
from smtc_lab.views.text.json_values import json_values

FORECAST_VERSION: Literal[1] = 1
"""Version of ``Forecast``; another one means another front end."""


@dataclass(frozen=True, kw_only=True)
class KeptCalibration:
    """The calibration that a set-up is predicted with."""

    created: str
    """When it was made, as ISO date and time in UTC."""

    machine: str
    """What it was made on, in words."""

    emulated_device_s: float | None
    """Declared seconds per step of an emulated device; None: there was none."""


@dataclass(frozen=True, kw_only=True)
class TypeOffers:
    """What a set-up would be with each instance type in the place of one group.

    Both lists are in the order of the catalog.
    """

    instance_group_name: str
    """The group."""

    step_time_s: tuple[float | None, ...]
    """Mean step time in seconds; None: the model cannot say."""

    usd_per_1000_steps: tuple[float | None, ...]
    """Mean cost of 1,000 steps in USD; None: as above, or a price is unknown."""


@dataclass(frozen=True, kw_only=True)
class AddedGroup:
    """What a set-up would be with one more group, which prepares data."""

    instance_type: str
    """Type of its one instance."""

    step_time_s: float
    """Mean step time in seconds."""

    usd_per_1000_steps: float | None
    """Mean cost of 1,000 steps in USD; None: a price is unknown."""


@dataclass(frozen=True, kw_only=True)
class ForecastSetUp:
    """What is predicted of one set-up, as its run in this comparison would show it.

    Where ``problem`` says why nothing is predicted, every number is None.
    """

    problem: str = ""
    """Why nothing is predicted, and what to do; empty: it is."""

    calibration: KeptCalibration | None = None
    """What it is predicted with; None: there is none, or it is not the reason."""

    is_emulated: bool = False
    """Whether its run here would be emulated, which is told in cluster time."""

    step_time_s: Estimate | None = None
    """Mean step time in seconds."""

    usd_per_hour: float | None = None
    """Price of all instances in USD per hour; None: one is unknown."""

    usd_per_1000_steps: Estimate | None = None
    """Cost of 1,000 steps in USD; None: a price is unknown."""

    usd_per_job: Estimate | None = None
    """Cost of ``job_s`` in USD; None: that or a price is unknown."""

    job_s: Estimate | None = None
    """The job in seconds, start-up and end included; of an emulated one its steps alone, since
    the rest is on another scale. None: the number of steps or the start-up is not known."""

    bottleneck: Stage | None = None
    """The stage that takes longest."""

    is_near_tie: bool = False
    """Whether another stage takes almost as long."""

    limiting_workers: int | None = None
    """Data workers of a training instance where they, and not its vCPUs, limit the CPU stage;
    0: trainers prepare their samples themselves. None: other things limit."""

    advice: str = ""
    """What to try first where data workers limit, as a plan says it; empty: nothing."""

    evidence: Literal["predicted", "extrapolated", "estimated"] | None = None
    """How far from its calibration the prediction is."""

    cautions: tuple[str, ...] = ()
    """Why a figure is unknown, and what to know before trusting the numbers; sentences."""

    utilization: PartUse
    """How busy its parts would be."""

    data_share: float | None = None
    """Samples that data instances prepare, of 1; None: there are none, or the model cannot
    tell."""

    offers: tuple[TypeOffers, ...] = ()
    """For each instance group what other types would bring."""

    added: AddedGroup | None = None
    """What a data group would bring; None: it has one, or the model cannot say."""


@dataclass(frozen=True, kw_only=True)
class MissingCalibrations:
    """What calibrating the set-ups would take."""

    workloads: int
    """Scripts with their hyperparameters that have no calibration yet, at least 1."""

    launches: int
    """Launches of all of them together."""

    about_s: float
    """Seconds that it takes about; an assumption until it is begun."""

    sentence: str
    """What it runs."""


@dataclass(frozen=True, kw_only=True)
class Forecast:
    """What a form is told of its set-ups before they run."""

    version: Literal[1] = FORECAST_VERSION
    """Version of this description."""

    of: str = ""
    """The set-ups as JSON, as they were when it was made; empty: nobody asked yet."""

    set_ups: tuple[ForecastSetUp, ...] = ()
    """What is predicted of each of them, in their order."""

    comparison_s: float | None = None
    """Seconds that all launches of the comparison take about, one after another; None: that of
    one is not known."""

    comparison_usd: float | None = None
    """What all launches would cost on the instances that are named, in USD: their steps alone
    where a set-up is emulated. None: the steps or the price of one are not known."""

    missing: MissingCalibrations | None = None
    """What calibrating would take; None: every set-up that can be has a calibration."""

    calibrating: Calibrating
    """How far a calibration is."""

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return json_values(self)
