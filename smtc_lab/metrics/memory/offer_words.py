"""Clusters that fit a model, in words: what to take and why, and a table of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from smtc_lab.metrics.memory.cluster_offer import (
    cheapest_per_hour,
    of_each_strategy,
    order_of,
)
from smtc_lab.metrics.memory.needs import amount

if TYPE_CHECKING:
    from collections.abc import Sequence

    from smtc_lab.metrics.memory.cluster_offer import ClusterOffer
    from smtc_lab.metrics.result import Interval

HEAD = (
    "instances",
    "devices",
    "batch of each",
    "peak a device",
    "free",
    "step",
    "price",
    "1,000 steps",
)
"""Columns of a table of offers, beside their strategy."""

_UNKNOWN = "unknown"
_SHORT = 3


def rows(offers: Sequence[ClusterOffer]) -> list[tuple[str, ...]]:
    """Return a row for the first of each strategy that fits: its name, then HEAD's columns."""
    return [(_strategy(one), *_cells(one)) for one in of_each_strategy(offers)]


def short_rows(offers: Sequence[ClusterOffer]) -> list[tuple[str, ...]]:
    """Return rows of the first few that do not fit."""
    short = [one for one in offers if not one.fits]
    return [(_strategy(one), *_cells(one)) for one in short[:_SHORT]]


def advice_on(offers: Sequence[ClusterOffer], *, alone_bytes: float) -> tuple[str, ...]:
    """Return the cheapest with its reason, then AWS's advice in its order.

    Args:
        offers: In the order of ``by_cost``.
        alone_bytes: What one device needs with one sample at once.

    Source:
        AWS, "Strategies for distributed training", Amazon SageMaker AI developer guide: begin
        with data parallelism; out of memory, make the batch smaller; where a batch of 1 does
        not fit either, take model parallelism.
    """
    fitting = [one for one in offers if one.fits]
    hour = cheapest_per_hour(fitting)
    if not fitting:
        return (_nothing(offers, alone_bytes),)
    tried = of_each_strategy(fitting)
    steps: tuple[tuple[str, list[ClusterOffer], str], ...] = (
        ("1. Data parallel", [one for one in tried if order_of(one) == 0], "the whole batch"),
        ("2. A smaller batch", [one for one in tried if order_of(one) == 1], "less of it"),
    )
    if steps[0][1] and not steps[1][1]:
        steps = steps[:1]
    return (
        f"The cheapest that fits is {_named(fitting[0])}: {_reason(fitting[0], alone_bytes)}.",
        *([] if hour in (None, fitting[0]) else [f"By the hour it is {_named(hour)}."]),
        *(_step(name, found, what) for name, found, what in steps),
        _model_parallel(tried, offers, alone_bytes),
        *_overlapping(fitting),
    )


def _step(name: str, found: Sequence[ClusterOffer], what: str) -> str:
    if not found:
        return f"{name}: no device here holds the model with {what}."
    return f"{name}: {'; or '.join(map(_named, found))}."


def _model_parallel(
    tried: Sequence[ClusterOffer], offers: Sequence[ClusterOffer], alone_bytes: float
) -> str:
    """Return what is to be done where a batch of 1 does not fit, and where that is so."""
    small = {
        one.accelerator: alone_bytes - one.usable_bytes
        for one in offers
        if alone_bytes > one.usable_bytes
    }
    if not small:
        return (
            f"3. Model parallel: not needed, as each device here holds a batch of 1 "
            f"({amount(alone_bytes)})."
        )
    named = ", ".join(
        f"{name} by {amount(short)}"
        for name, short in sorted(small.items(), key=lambda item: item[1])
    )
    found = [one for one in tried if order_of(one) > 1]
    how = f": {'; or '.join(map(_named, found))}" if found else " does not fit here either"
    return (
        f"3. Model parallel, where a batch of 1 ({amount(alone_bytes)}) is too large (short: "
        f"{named}){how}."
    )


def _overlapping(fitting: Sequence[ClusterOffer]) -> list[str]:
    best = fitting[0].usd_per_step
    if best is None:
        return []
    costs = [cost for one in fitting[1:] if (cost := one.usd_per_step) is not None]
    count = sum(cost.low <= best.high for cost in costs)
    if not count:
        return []
    told = len(costs) - count
    return [
        (
            f"Intervals of cost tell it from {told} of {len(costs)} others that fit. Measure "
            "a step, and give its utilization, before much is spent."
        )
    ]


def _nothing(offers: Sequence[ClusterOffer], alone_bytes: float) -> str:
    if not offers:
        return (
            "No cluster was looked at: the batch divides among none of them, or no instance "
            "type has accelerators whose memory is known."
        )
    least = offers[0]
    return (
        f"Nothing here fits. {_where(least)} with {_strategy(least)} is short of least, by "
        f"{amount(-least.free_bytes)} a device; one sample on one device needs "
        f"{amount(alone_bytes)}. Allow more instances, or recompute or offload "
        "activations."
    )


def _reason(one: ClusterOffer, alone_bytes: float) -> str:
    """Return why an offer does with what it has."""
    if one.strategy == "one device" and one.accumulations == 1:
        return "its one device holds the whole step, so nothing is exchanged"
    if one.strategy in {"one device", "data"} and one.accumulations > 1:
        return (
            f"a device holds {one.batch_size} samples at once, so {one.accumulations} such "
            "batches are added up before each step"
        )
    if one.strategy == "data":
        return f"each device holds the model, and {one.devices} share the batch"
    if alone_bytes > one.usable_bytes:
        return (
            f"a device is {amount(alone_bytes - one.usable_bytes)} short of the whole model "
            f"with a batch of 1, and holds its part with {amount(one.free_bytes)} free"
        )
    return "parts of the model leave each device room for more samples at once"


def _where(one: ClusterOffer) -> str:
    return f"{one.instance_count} x {one.instance_type}"


def _named(one: ClusterOffer) -> str:
    return (
        f"{_where(one)} ({one.devices} x {one.accelerator}), {_strategy(one)}, "
        f"{_usd(one.usd_per_1000_steps)} per 1,000 steps, {_price(one)}"
    )


def _strategy(one: ClusterOffer) -> str:
    """Return a strategy with what it is made of: ``pipeline 4 in 8 microbatches``."""
    name = "one device" if one.devices == 1 else ""
    parts = [
        f"{word} {count}"
        for word, count in (
            ("data", one.data),
            ("shard", one.shard),
            ("pipeline", one.pipeline),
            ("tensor", one.tensor),
        )
        if count > 1
    ]
    told = name or ", ".join(parts)
    if one.microbatches is not None:
        told += f" in {one.microbatches} microbatches"
    return told + (f", {one.accumulations} batches a step" if one.accumulations > 1 else "")


def _cells(one: ClusterOffer) -> tuple[str, ...]:
    free = one.free_bytes
    return (
        _where(one),
        f"{one.devices} x {one.accelerator}",
        str(one.batch_size),
        amount(one.peak_bytes),
        amount(free) if one.fits else f"{amount(-free)} short",
        _seconds(one.step_s),
        _price(one),
        _usd(one.usd_per_1000_steps),
    )


def _price(one: ClusterOffer) -> str:
    if one.usd_per_hour is None:
        return "price unknown"
    kind = "" if one.price_kind in {"list", None} else f" ({one.price_kind})"
    return f"${one.usd_per_hour:.5g}/h{kind}"


def _usd(found: Interval | None) -> str:
    if found is None:
        return _UNKNOWN
    return f"${found.mean:.3g} ({found.low:.3g}-{found.high:.3g})"


def _seconds(found: Interval | None) -> str:
    if found is None:
        return _UNKNOWN
    return f"{found.mean:.3g} s ({found.low:.3g}-{found.high:.3g})"
