"""The same futures of a market for all policies, and what becomes of a job in them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from smtc_lab.metrics.result import Interval
from smtc_lab.planner.interruptions import best_interval_s
from smtc_lab.planner.spot.lifetimes import windows_of
from smtc_lab.planner.spot.numbers import LEVEL, PolicyForecast, SavePoint
from smtc_lab.planner.spot.played import PlayedJobs
from smtc_lab.planner.spot.policies import POLICIES, play

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from smtc_lab.planner.spot.lifetimes import Lifetimes
    from smtc_lab.planner.spot.played import SpotTerms
    from smtc_lab.planner.spot.prices import SpotPrices
    from smtc_lab.planner.spot.trace import SpotTrace

_CURVE_FUTURES = 300
_CURVE = tuple(2 ** (power / 2) for power in range(-4, 5))
"""Intervals between saves that are tried, as multiples of the best without heavy tails."""
_SECONDS_PER_HOUR = 3600.0


class Futures:
    """The same futures for all policies, as often as they are asked for."""

    def __init__(  # noqa: PLR0913, PLR0917  what the futures are of
        self,
        terms: SpotTerms,
        prices: SpotPrices,
        lifetimes: Lifetimes,
        trace: SpotTrace | None,
        instances: int,
        seed: int,
    ) -> None:
        self._terms, self._prices = terms, prices
        self._lifetimes, self._trace = lifetimes, trace
        self._instances, self._seed = instances, seed
        self._names = [
            name
            for name, policy in POLICIES.items()
            if terms.deadline_s is not None or not policy.needs_deadline
        ]

    def forecast(self, futures: int, every_s: float | None) -> tuple[PolicyForecast, ...]:
        """Return what each policy does.

        Args:
            futures: How many are played.
            every_s: Work between two saves; None: what is cheapest.
        """
        terms = self._terms
        young_s = best_interval_s(
            checkpoint_s=terms.save_s, mean_time_between_s=self._lifetimes.mean_time_between_s
        )
        tried = _tried(terms.work_s, young_s)
        few = min(futures, _CURVE_FUTURES)
        played = self._played(
            {name: np.repeat(tried, few) for name in self._names[1:]},
            np.tile(np.arange(few), len(tried)),
        )
        curves = {
            name: _curve(tried, self._usd(jobs).reshape(-1, few).mean(axis=1))
            for name, jobs in played.items()
        }
        best = {
            name: min(curve, key=lambda point: point.usd).save_every_s
            for name, curve in curves.items()
        }
        everyday = {
            name: np.full(futures, every_s or best.get(name, terms.work_s))
            for name in self._names
        }
        found = self._played(everyday, np.arange(futures))
        return tuple(
            self._told(name, jobs, curves.get(name, ()), everyday[name][0])
            for name, jobs in found.items()
        )

    def _played(
        self, every_s: Mapping[str, NDArray[np.float64]], future: NDArray[np.intp]
    ) -> dict[str, PlayedJobs]:
        jobs = {name: PlayedJobs(self._terms, each) for name, each in every_s.items()}
        windows = windows_of(
            self._lifetimes,
            self._trace,
            instances=self._instances,
            futures=int(future.max()) + 1,
            random=np.random.default_rng(self._seed),
        )
        play(jobs, windows, future)
        return jobs

    def _usd(self, jobs: PlayedJobs) -> NDArray[np.float64]:
        prices = self._prices
        usd: NDArray[np.float64] = (
            jobs.ended["spot_s"] * prices.spot_usd_per_hour
            + jobs.ended["on_demand_s"] * prices.on_demand_usd_per_hour
        ) / _SECONDS_PER_HOUR
        return usd

    def _told(
        self,
        name: str,
        jobs: PlayedJobs,
        curve: tuple[SavePoint, ...],
        every_s: float,
    ) -> PolicyForecast:
        finish_s = jobs.ended["now_s"]
        means = {key: float(values.mean()) for key, values in jobs.ended.items()}
        deadline_s = self._terms.deadline_s
        in_time = None
        if deadline_s is not None:  # the clock of many small times is not exact
            is_kept = jobs.has_ended & (finish_s <= deadline_s * (1 + 1e-9))
            in_time = float(is_kept.mean())
        return PolicyForecast(
            policy=name,
            usd=_spread(self._usd(jobs)),
            finish_s=_spread(finish_s),
            deadline_probability=in_time,
            ended_fraction=float(jobs.has_ended.mean()),
            spot_s=means["spot_s"],
            on_demand_s=means["on_demand_s"],
            waiting_s=max(0.0, means["now_s"] - means["spot_s"] - means["on_demand_s"]),
            lost_s=means["lost_s"],
            interruptions=means["interruptions"],
            save_every_s=float(every_s),
            best_save_every_s=(
                min(curve, key=lambda point: point.usd).save_every_s if curve else every_s
            ),
            curve=curve,
        )


def _tried(work_s: float, young_s: float) -> list[float]:
    """Return the intervals between saves that are tried, in seconds.

    Where interruptions are rare a policy that has to end in time may save more often than what
    they cost asks for: what it has kept is what it can count on.
    """
    around = {min(work_s, young_s * factor) for factor in _CURVE}
    shares = {work_s / 2**power for power in range(1, 7)}
    return sorted(around | {share for share in shares if share < min(around)})


def _curve(tried: list[float], usd: NDArray[np.float64]) -> tuple[SavePoint, ...]:
    return tuple(
        SavePoint(save_every_s=every_s, usd=float(each))
        for every_s, each in zip(tried, usd, strict=True)
    )


def _spread(values: NDArray[np.float64]) -> Interval:
    tail = 50 * (1 - LEVEL)
    low, high = np.percentile(values, [tail, 100 - tail])
    return Interval(
        mean=float(values.mean()),
        low=float(low),
        high=float(high),
        level=LEVEL,
        evidence="predicted",
    )
