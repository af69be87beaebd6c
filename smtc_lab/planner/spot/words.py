"""A spot forecast in words: what it is of, a table of its policies, and what to take."""

from __future__ import annotations

from typing import TYPE_CHECKING

from smtc_lab.neutral_text import neutral
from smtc_lab.text_table import aligned

if TYPE_CHECKING:
    from smtc_lab.metrics.result import Interval
    from smtc_lab.planner.spot.measured import MeasuredSpot
    from smtc_lab.planner.spot.numbers import ForecastNumbers, PolicyForecast

HEAD = (
    "USD",
    "ends after",
    "in time",
    "spot",
    "on-demand",
    "waits",
    "lost",
    "interrupted",
    "saves every",
)
"""Columns of the table of policies, beside their name."""

_TIMES = "\N{MULTIPLICATION SIGN}"
_TO = "\N{EN DASH}"
_NO_TRACE = (
    "Windows are drawn one by one here, but scarce days follow each other: in recorded traces "
    "the latest 5 % of jobs on spot alone ended 1.1 to 1.7 times as late. Give a trace."
)
_MINUTE, _HOUR, _DAY = 60.0, 3600.0, 86_400.0
_CENT = 0.01
_MOMENT_S = 1e-3
"""What is shorter is what many small times add up to by their rounding."""


def forecast_text(forecast: ForecastNumbers) -> str:
    """Return a forecast as a table, with sentences before and after."""
    rows = [("policy", *HEAD), *rows_of(forecast)]
    lines = [*about(forecast), *aligned(rows, numbers_from=1), *advice(forecast)]
    return neutral("\n".join(lines))  # a trace is called as its file is


def rows_of(forecast: ForecastNumbers) -> list[tuple[str, ...]]:
    """Return a row for each policy: its name, then ``HEAD``'s columns; then measured runs."""
    return [
        *(_row(one) for one in forecast.policies),
        *(_measured_row(one, forecast.deadline_s) for one in forecast.measured),
    ]


def about(forecast: ForecastNumbers) -> list[str]:
    """Return what a forecast is of, in sentences."""
    prices, lives = forecast.prices, forecast.lifetimes
    instances = " and ".join(
        f"{count} {_TIMES} {name or 'an instance'}" for name, count in forecast.instances
    )
    deadline = (
        "" if forecast.deadline_s is None else f" to end within {time(forecast.deadline_s)}"
    )
    where = ", ".join(filter(None, (prices.az, prices.spot_date)))
    dated = f" ({where})" if where else ""
    of = f" ({prices.on_demand_date})" if prices.on_demand_date else ""
    job = f"{time(forecast.work_s)} of work on {instances}{deadline}"
    saves = f"a save takes {time(forecast.save_s)}, a restart {time(forecast.restart_s)}"
    spot = f"Spot ${prices.spot_usd_per_hour:,.4g} an hour{dated}"
    lasts = f"Instances last {time(lives.mean_time_between_s)} in the mean, {_kind(forecast)}"
    return [
        f"{job}; {saves}.",
        f"{spot}, on-demand ${prices.on_demand_usd_per_hour:,.4g}{of}.",
        f"{lasts}; then there are none for {time(lives.mean_wait_s)}.",
    ]


def advice(forecast: ForecastNumbers) -> list[str]:
    """Return what to take and why, and what the numbers are."""
    what = f"Means and 5 to 95 % of {forecast.futures:,} futures, predicted"
    lines = [f"{what}; waiting is not billed, restarts are.", *_what_to_take(forecast)]
    if forecast.lifetimes.kind != "trace":
        lines.append(_NO_TRACE)
    lines += [
        f"With {one.policy} {percent(1 - one.ended_fraction)} of the futures never end: its "
        "means are too small."
        for one in forecast.policies
        if one.ended_fraction < 1
    ]
    return [*lines, *_beside(forecast)]


def _what_to_take(forecast: ForecastNumbers) -> list[str]:
    """Return which policy to take, and what else there would be."""
    best, on_demand, other = forecast.best, forecast.policies[0], forecast.best_of_all
    if not best.chance and forecast.deadline_s is not None:
        takes = f"{best.policy} takes {time(best.finish_s.mean)}"
        within = f"Nothing ends within {time(forecast.deadline_s)}: {takes}."
        return [f"{within} Give it longer, or take faster instances."]
    saved = 1 - best.usd.mean / on_demand.usd.mean if on_demand.usd.mean else 0.0
    cheaper = f"{percent(saved)} cheaper than on-demand" if best is not on_demand else ""
    said = ", ".join(filter(None, (f"${_sum(best.usd.mean)}", cheaper)))
    chance = best.deadline_probability
    share = "" if chance is None else f", in time in {percent(chance)} of the futures"
    lines = [f"Take {best.policy}: {said}{share}."]
    if other is not best:
        lines.append(
            f"By {other.policy} it would be ${_sum(other.usd.mean)}, but no launcher changes "
            "between spot and on-demand instances."
        )
    return lines


def _beside(forecast: ForecastNumbers) -> list[str]:
    """Return how the measured runs lie in what was predicted of them."""
    runs = forecast.measured
    if not runs:
        return []
    scales = " and ".join(sorted({f"{one.time_scale:,.6g}" for one in runs}))
    word = " and ".join(sorted({one.evidence for one in runs}))
    held = f"{forecast.num_held} of {len(runs)} {'run' if len(runs) == 1 else 'runs'}"
    of = f"{scales} s of the market in one second of the machine"
    return [f"{held} ended between the 5 and the 95 %; {word}, {of}."]


def _kind(forecast: ForecastNumbers) -> str:
    lives = forecast.lifetimes
    if lives.kind == "trace":
        how = f"variation {lives.variation:.2g}, available in {percent(lives.availability)}"
        return f"as in {lives.name} of {time(lives.span_s or 0.0)} ({how})"
    if lives.kind == "exponential":
        return "without memory"
    return f"with heavy tails (variation {lives.variation:.2g})"


def _row(one: PolicyForecast) -> tuple[str, ...]:
    chance = one.deadline_probability
    return (
        one.policy,
        _usd(one.usd),
        _times(one.finish_s),
        "" if chance is None else percent(chance),
        time(one.spot_s),
        time(one.on_demand_s),
        time(one.waiting_s),
        time(one.lost_s),
        f"{one.interruptions:,.1f}" if one.interruptions else "",
        time(one.save_every_s) if one.curve else "",
    )


def _measured_row(one: MeasuredSpot, deadline_s: float | None) -> tuple[str, ...]:
    in_time = "" if deadline_s is None else "yes" if one.finish_s <= deadline_s else "no"
    return (
        f"measured: {one.job_name}",
        _sum(one.usd),
        time(one.finish_s),
        in_time,
        time(one.billed_s),
        time(0.0),
        time(one.waiting_s),
        time(one.lost_s),
        f"{one.interruptions:,}" if one.interruptions else "",
        "",
    )


def _sum(usd: float) -> str:
    """Return dollars, in cents unless they are less than one."""
    return f"{usd:,.2f}" if usd >= _CENT or not usd else f"{usd:.2g}"


def _usd(cost: Interval) -> str:
    low, mean, high = map(_sum, (cost.low, cost.mean, cost.high))
    return mean if low == high else f"{mean} ({low}{_TO}{high})"


def _times(taken_s: Interval) -> str:
    factor, unit = _unit(taken_s.mean)
    low, mean, high = (
        _number(each / factor) for each in (taken_s.low, taken_s.mean, taken_s.high)
    )
    return f"{mean} {unit}" if low == high else f"{mean} ({low}{_TO}{high}) {unit}"


def time(value_s: float) -> str:
    """Return a time in the unit that suits it: ``20 s``, ``4.5 min``, ``52 h``."""
    factor, unit = _unit(value_s)
    return f"{_number(value_s / factor) if abs(value_s) >= _MOMENT_S else 0} {unit}"


def percent(fraction: float) -> str:
    """Return a fraction as a percentage that says 0 and 100 only where it is."""
    if 0.995 <= fraction < 1 or 0 < fraction < 0.005:
        return f"{min(99.99, max(0.01, 100 * fraction)):.2f} %"
    return f"{100 * fraction:.0f} %"


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def _unit(value_s: float) -> tuple[float, str]:
    """Return seconds of the unit that suits a time, and its name."""
    if value_s >= 100 * _HOUR:
        return _DAY, "d"
    if value_s >= 2 * _HOUR:
        return _HOUR, "h"
    if value_s >= 2 * _MINUTE:
        return _MINUTE, "min"
    return 1.0, "s"
