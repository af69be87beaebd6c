"""What became of a job's futures, policy by policy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import Field

from smtc_lab.errors import PlannerError
from smtc_lab.metrics.result import Interval, Result
from smtc_lab.planner.spot.lifetimes import Lifetimes
from smtc_lab.planner.spot.measured import MeasuredSpot
from smtc_lab.planner.spot.prices import SpotPrices

if TYPE_CHECKING:
    from collections.abc import Sequence

SCHEMA_VERSION: Literal[1] = 1

LEVEL = 0.9
"""Share of the futures that lie between the ends of an interval: 5 to 95 %."""

_NEAR = 1e-3

SURE = 0.95
"""Share of the futures that must end in time for a policy to be recommended."""


TAKEN_BY_JOBS = {"on-demand": False, "spot only": True}
"""Policies under which a job can be trained, and what it says of spot instances then. The
others take on-demand instances between spot ones, which no launcher does."""


class SavePoint(Result):
    """What a job costs with another interval between saves."""

    save_every_s: float
    """Work between two saves, in seconds."""

    usd: float
    """Expected cost in USD."""


class PolicyForecast(Result):
    """What became of all futures under one policy. Predicted."""

    policy: str
    """Its name."""

    usd: Interval
    """Cost in USD, with the ends between which 90 % of the futures lie."""

    finish_s: Interval
    """Time until the end, in seconds, with the same ends."""

    deadline_probability: float | None
    """Share of the futures that end in time, 0 to 1; None: there is no deadline."""

    ended_fraction: float
    """Share of the futures that end at all, 0 to 1; others were given up, and count as what
    they had cost and taken until then: their means are too small."""

    spot_s: float
    """Billed time on spot instances in the mean, in seconds."""

    on_demand_s: float
    """Billed time on on-demand instances in the mean, in seconds."""

    waiting_s: float
    """Time without an instance in the mean, in seconds; it is not billed."""

    lost_s: float
    """Work that was done again in the mean, in seconds."""

    interruptions: float
    """Spot instances that were taken away in the mean."""

    save_every_s: float
    """Work between two saves that all of this is of, in seconds."""

    best_save_every_s: float
    """That of ``curve`` with the least cost, in seconds."""

    curve: tuple[SavePoint, ...]
    """Cost over the interval between saves, from fewer futures; empty: it saves once."""

    @property
    def chance(self) -> float:
        """Share of the futures that end as they should, 0 to 1: in time, or at all."""
        if self.deadline_probability is None:
            return self.ended_fraction
        return self.deadline_probability

    @property
    def billed_s(self) -> float:
        """Billed time in the mean, in seconds."""
        return self.spot_s + self.on_demand_s


class ForecastNumbers(Result):
    """A job, its market, and what each policy does. Predicted."""

    schema_version: Literal[1] = SCHEMA_VERSION
    """Version of this schema."""

    work_s: float
    """Time of the steps of the job without any interruption, in seconds."""

    save_s: float
    """For how long a save holds the training up, in seconds."""

    restart_s: float
    """From an instance that is there to the next step, in seconds."""

    deadline_s: float | None
    """When the job must have ended, in seconds from its begin; None: whenever."""

    instances: tuple[tuple[str | None, int], ...]
    """Instance types, None where there is none, and how many of each."""

    prices: SpotPrices
    """What an hour costs."""

    lifetimes: Lifetimes
    """How long spot instances last."""

    futures: int
    """How many were drawn."""

    seed: int
    """What they were drawn with."""

    policies: tuple[PolicyForecast, ...] = Field(min_length=1)
    """What each policy does, beginning with on-demand instances alone."""

    measured: tuple[MeasuredSpot, ...] = ()
    """Runs of the job under such a market; empty: none was laid beside it."""

    def policy(self, name: str) -> PolicyForecast:
        """Return what one policy does.

        Raises:
            PlannerError: It was not forecast.
        """
        for one in self.policies:
            if one.policy == name:
                return one
        known = ", ".join(repr(one.policy) for one in self.policies)
        raise PlannerError(f"The policy {name[:60]!r} was not forecast. Name one of {known}.")

    @property
    def num_held(self) -> int:
        """How many of the measured runs ended between 5 and 95 % of their policy's futures.

        All futures without an interruption end at one moment, which may be the end of 5 %: a
        run within a thousandth of an end counts as at it.
        """
        ends = [(self.policy(one.policy).finish_s, one.finish_s) for one in self.measured]
        return sum(
            finish_s.low * (1 - _NEAR) <= end_s <= finish_s.high * (1 + _NEAR)
            for finish_s, end_s in ends
        )

    @property
    def best(self) -> PolicyForecast:
        """The cheapest that a job can take of those that end in time in 95 % of the futures.

        Where none does, that with the most; without a deadline the cheapest that ends. Of two
        that never end in time it is the one that ends earlier.
        """
        return self._cheapest([one for one in self.policies if one.policy in TAKEN_BY_JOBS])

    @property
    def best_of_all(self) -> PolicyForecast:
        """The same of all policies, also of those that no launcher carries out."""
        return self._cheapest(self.policies)

    def _cheapest(self, policies: Sequence[PolicyForecast]) -> PolicyForecast:
        policies = policies or self.policies  # of a folder from elsewhere
        chances = [one.chance for one in policies]
        if not max(chances):
            return min(policies, key=lambda one: one.finish_s.mean)
        least = min(SURE, max(chances))
        sure = [one for one, chance in zip(policies, chances, strict=True) if chance >= least]
        return min(sure, key=lambda one: one.usd.mean)
