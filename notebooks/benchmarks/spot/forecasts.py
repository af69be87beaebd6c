"""Forecasts: how long they take, beside a formula, and beside recorded traces."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from smtc_lab.planner.interruptions import Interruptions, simulated_jobs_s
from smtc_lab.planner.spot.forecast import spot_forecast
from smtc_lab.planner.spot.trace import SpotTrace

if TYPE_CHECKING:
    from collections.abc import Iterator

    from smtc_lab.planner.spot.lifetimes import Given

Row = dict[str, Any]

HOUR = 3600.0
WORK_S, DEADLINE_S, RESTART_S, EVERY_S = 48 * HOUR, 52 * HOUR, 720.0, 600.0
SPOT_SHARE = 0.3
"""Spot price over on-demand of the published comparison; only of this benchmark."""
_HELD_S = 1e-3
"""The published policy's saves hold nothing up."""
_ROWS = ((6.7, 60.0, 600.0), (5.0, 20.0, 300.0), (1.0, 20.0, 300.0), (0.25, 30.0, 300.0))
"""Hours between interruptions, seconds of a save, of a restart."""
_WITHIN_S = {"mean_time_between_s": 2 * HOUR, "variation": 2.0, "mean_wait_s": HOUR}


def forecast_rounds(*, futures: int, rounds: int) -> Iterator[Row]:
    """Yield the time of a forecast of all policies, with its curve over save intervals."""
    kinds: dict[str, Given] = {"without memory": 5 * HOUR, "heavy tails, waits": _WITHIN_S}
    for number in range(rounds):
        for lifetimes, given in kinds.items():
            began_s = time.perf_counter()
            made = _forecast(given, save_s=20.0, futures=futures, save_every_s="auto")
            yield {
                "what": "forecast",
                "lifetimes": lifetimes,
                "round": number,
                "policies": len(made.policies),
                "futures": futures,
                "seconds": time.perf_counter() - began_s,
            }


def formula_rows(*, jobs: int) -> Iterator[Row]:
    """Yield the mean time of simulated jobs beside the formula's."""
    for between_h, save_s, restart_s in _ROWS:
        how = Interruptions(
            mean_time_between_s=between_h * HOUR, checkpoint_s=save_s, restart_s=restart_s
        )
        played_s = simulated_jobs_s(how, useful_s=WORK_S, jobs=jobs)
        yield {
            "what": "formula",
            "mean_time_between_h": between_h,
            "formula_s": how.expected_s(WORK_S),
            "simulated_s": float(played_s.mean()),
            "error_s": float(played_s.std() / np.sqrt(jobs)),
        }


def trace_rows(folder: str | None, *, futures: int) -> Iterator[Row]:
    """Yield of each recorded zone: the latest 5 % of jobs, and uniform progress.

    Args:
        folder: Of traces in the public format, which nothing is shipped of, each file a zone;
            None: there is none.
        futures: How many are played.
    """
    for path in sorted(Path(folder).glob("*.json")) if folder else ():
        trace = SpotTrace.load(path)
        made = _forecast(trace, save_s=_HELD_S, futures=futures, save_every_s=EVERY_S)
        lives = made.lifetimes
        mean = {
            "mean_time_between_s": lives.mean_time_between_s,
            "mean_wait_s": lives.mean_wait_s,
        }
        uniform, on_demand = made.policy("uniform progress"), made.policy("on-demand")
        row = {
            "what": "trace",
            "zone": path.stem,
            "availability": lives.availability,
            "late_s": made.policy("spot only").finish_s.high,
            "own_late_s": _own_late_s(trace),
            "uniform_usd": uniform.usd.mean / on_demand.usd.mean,
            "in_time": uniform.deadline_probability,
        }
        others = {
            "exponential": mean,
            "weibull": {**mean, "variation": max(0.1, lives.variation)},
        }
        for name, given in others.items():
            one = _forecast(given, save_s=_HELD_S, futures=futures, save_every_s=EVERY_S)
            row[f"{name}_late_s"] = one.policy("spot only").finish_s.high
        yield row


def _forecast(lifetimes: Given, **values: Any) -> Any:  # noqa: ANN401  a forecast
    return spot_forecast(
        WORK_S,
        restart_s=RESTART_S,
        lifetimes=lifetimes,
        deadline_s=DEADLINE_S,
        spot_usd_per_hour=SPOT_SHARE,
        on_demand_usd_per_hour=1.0,
        **values,
    )


def _own_late_s(trace: SpotTrace) -> float:
    """Return when the latest 5 % of jobs end that begin at each moment of a trace.

    Played tick by tick, without anything of the forecast. A job that the trace's end cuts goes
    on at its begin, at the same time of the day.
    """
    is_up, gap_s = (trace.available >= 1).tolist(), trace.gap_s
    day = round(24 * HOUR / gap_s)
    again = len(is_up) % day if len(is_up) > day else 0
    ends_s = []
    for begin in range(0, len(is_up), max(1, len(is_up) // 2_000)):
        tick, ticks, left_s, up_s = begin, 0, WORK_S, 0.0
        while left_s > 0:
            up_s = up_s + gap_s if is_up[tick] else 0.0
            if not is_up[tick] and left_s < WORK_S:  # what was not saved is lost
                left_s = WORK_S - EVERY_S * np.floor((WORK_S - left_s) / EVERY_S)
            left_s -= min(gap_s, max(0.0, up_s - RESTART_S)) if is_up[tick] else 0.0
            tick, ticks = tick + 1, ticks + 1
            tick = again if tick == len(is_up) else tick
        ends_s.append(ticks * gap_s + left_s)
    return float(np.percentile(ends_s, 95))
