"""How long spot instances last, and how long there are none: a table of kinds."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
from pydantic import Field, ValidationError

from smtc_lab.errors import PlannerError
from smtc_lab.launchers.supervision.market import weibull_shape
from smtc_lab.metrics.result import Result
from smtc_lab.planner.spot.trace import SpotTrace
from smtc_lab.spec.spot import Market

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from numpy.typing import NDArray

    Windows = Iterator[tuple[NDArray[np.float64], NDArray[np.float64]]]
    _Draw = Callable[[np.random.Generator, int], NDArray[np.float64]]

Kind = Literal["exponential", "weibull", "trace"]
"""``exponential``: without memory; ``weibull``: with heavier tails; ``trace``: as recorded."""

Given: TypeAlias = "float | str | Path | Mapping[str, float] | SpotTrace | Market"
"""What a user may say of lifetimes."""

_VARIATIONS = (0.1, 10.0)
_NUMBERS = ("mean_time_between_s", "variation", "mean_wait_s")
_LONGEST_S = 1e9


class Lifetimes(Result):
    """How long spot instances last, and how long there are none between."""

    kind: Kind
    """What they are drawn from."""

    mean_time_between_s: float = Field(gt=0, le=_LONGEST_S)
    """Mean time for which instances can be had, in seconds."""

    variation: float = Field(default=1.0, ge=0, le=1e6)
    """Standard deviation of that over its mean: 1 without memory, 1.5 to 2.6 in published
    traces."""

    mean_wait_s: float = Field(default=0.0, ge=0, le=_LONGEST_S)
    """Mean time without any until the next, in seconds; drawn without memory, but for a
    trace."""

    availability: float = Field(default=1.0, ge=0, le=1)
    """Share of the time in which there are instances, 0 to 1."""

    name: str | None = None
    """Of the trace; None: there is none."""

    span_s: float | None = None
    """Length of the trace in seconds; None: there is none."""


def given_lifetimes(given: Given, *, instances: int) -> tuple[Lifetimes, SpotTrace | None]:
    """Return the lifetimes that a user gives, and the trace that they are of.

    Args:
        given: A mean in seconds, without memory; ``mean_time_between_s``, ``variation`` and
            ``mean_wait_s`` by name; a market of a job; a trace, or the path of its file.
        instances: How many are needed at once.

    Raises:
        PlannerError: A number is out of its range, or the trace cannot be read or has never so
            many instances.
    """
    if isinstance(given, Market):
        given = _of_market(given)
    if isinstance(given, str | Path):
        given = SpotTrace.load(given)
    if isinstance(given, SpotTrace):
        return _of_trace(given, instances), given
    values: dict[str, Any] = {}
    values.update({_NUMBERS[0]: given} if isinstance(given, int | float) else given)
    if not set(values) <= set(_NUMBERS) or _NUMBERS[0] not in values:
        raise PlannerError(
            f"lifetimes={str(given)[:80]} has not {', '.join(_NUMBERS)} alone. Give for "
            "example {'mean_time_between_s': 3600, 'variation': 1.8}, a number or a trace."
        )
    variation = values.get("variation", 1.0)
    least, most = _VARIATIONS
    if not isinstance(variation, int | float) or not least <= variation <= most:
        raise PlannerError(
            f"variation={variation!r} of the lifetimes is not {least:g} to {most:g}. Give 1 "
            "for lifetimes without memory; published traces have 1.5 to 2.6."
        )
    try:
        made = Lifetimes(kind="exponential" if variation == 1 else "weibull", **values)
    except ValidationError as error:
        detail = error.errors(include_url=False)[0]
        raise PlannerError(
            f"{detail['loc'][0]}={str(detail['input'])[:80]} of the lifetimes does not fit: "
            f"{detail['msg']}. Correct it."
        ) from None
    share = made.mean_time_between_s / (made.mean_time_between_s + made.mean_wait_s)
    return made.model_copy(update={"availability": share}), None


def market_with(market: Market, given: Mapping[str, Any]) -> Market:
    """Return a market with what is given in the place of what it says when instances go.

    Args:
        market: Of a job.
        given: Fields of a ``Market``.

    Raises:
        SpecError: A number is out of its range.
    """
    others: dict[str, Any] = {}
    if {"mean_time_between_s", "trace"} & given.keys():
        others = {"mean_time_between_s": None, "trace": None, "interruptions_s": ()}
    return Market.model_validate({**dict(market), **others, **given})


def _of_market(market: Market) -> Path | dict[str, float]:
    """Return what a market draws its interruptions from: a trace, or numbers."""
    has_mean = market.mean_time_between_s is not None
    if market.interruptions_s or has_mean is (market.trace is not None):
        raise PlannerError(
            f"lifetimes={str(market)[:80]} is a market that has not either "
            "mean_time_between_s or a trace alone. Give one of them."
        )
    if market.trace is not None:
        return Path(market.trace)
    return {name: getattr(market, name) for name in _NUMBERS}


def windows_of(
    lifetimes: Lifetimes,
    trace: SpotTrace | None,
    *,
    instances: int,
    futures: int,
    random: np.random.Generator,
) -> Windows:
    """Return when there are instances in so many futures.

    Args:
        lifetimes: What they are drawn from.
        trace: The trace, where they are of one.
        instances: How many are needed at once.
        futures: How many.
        random: What draws them.
    """
    if trace is not None:
        return trace.windows(instances, futures, random)
    return _drawn(lifetimes, _DRAWN[lifetimes.kind](lifetimes), futures, random)


def _exponential(lifetimes: Lifetimes) -> _Draw:
    mean_s = lifetimes.mean_time_between_s
    return lambda random, count: mean_s * random.standard_exponential(count)


def _weibull(lifetimes: Lifetimes) -> _Draw:
    shape = weibull_shape(lifetimes.variation)
    scale_s = lifetimes.mean_time_between_s / math.gamma(1 + 1 / shape)
    return lambda random, count: scale_s * random.standard_exponential(count) ** (1 / shape)


_DRAWN: Mapping[str, Callable[[Lifetimes], _Draw]] = {
    "exponential": _exponential,
    "weibull": _weibull,
}
"""How a lifetime is drawn, by the kind of its distribution."""


def _drawn(
    lifetimes: Lifetimes, draw: _Draw, futures: int, random: np.random.Generator
) -> Windows:
    starts_s = np.zeros(futures)
    while True:
        ends_s = starts_s + draw(random, futures)
        yield starts_s, ends_s
        starts_s = ends_s
        if lifetimes.mean_wait_s:
            starts_s = ends_s + lifetimes.mean_wait_s * random.standard_exponential(futures)


def _of_trace(trace: SpotTrace, instances: int) -> Lifetimes:
    is_up = trace.has(instances)
    up_s, down_s = trace.lasted(instances)
    gaps_s = down_s[down_s > 0]
    return Lifetimes(
        kind="trace",
        mean_time_between_s=float(up_s.mean()),
        variation=float(up_s.std() / up_s.mean()),
        mean_wait_s=float(gaps_s.mean()) if len(gaps_s) else 0.0,
        availability=float(is_up.mean()),
        name=trace.name,
        span_s=trace.span_s,
    )
