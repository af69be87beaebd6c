"""Traces that are made for a test."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np

from smtc_lab.launchers.supervision.market import weibull_shape
from smtc_lab.planner.spot.trace import SpotTrace

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


def trace_of(counts: Sequence[int], *, gap_s: float = 195.0) -> SpotTrace:
    return SpotTrace.from_json(
        json.dumps({"metadata": {"gap_seconds": gap_s}, "data": [int(one) for one in counts]})
    )


def heavy_tailed(
    *, seed: int, up_h: float, down_h: float, cv: float = 2.2, days: float = 45.0
) -> SpotTrace:
    """Return a trace like published ones: Weibull stretches with and without an instance."""
    random = np.random.default_rng(seed)
    shape, gap_s = weibull_shape(cv), 195.0
    counts: list[int] = []
    while len(counts) < days * 86_400 / gap_s:
        for state, mean_h in ((1, up_h), (0, down_h)):
            drawn_h = mean_h / _mean(shape) * random.weibull(shape)
            counts += [state] * max(1, round(3600 * drawn_h / gap_s))
    return trace_of(counts, gap_s=gap_s)


def _mean(shape: float) -> float:
    from math import gamma

    return gamma(1 + 1 / shape)


def windows_from(trace: SpotTrace, begin: int) -> Iterator[tuple[float, float]]:
    """Yield windows tick by tick, from one tick on and round and round.

    After the end comes the beginning, at the same time of the day.
    """
    counts, ticks = trace.available, len(trace.available)
    day = round(86_400 / trace.gap_s)
    first = ticks % day if ticks > day else 0
    now, start, at = 0, None, begin
    while True:
        is_up = counts[at] > 0
        if is_up and start is None:
            start = now
        if not is_up and start is not None:
            yield start * trace.gap_s, now * trace.gap_s
            start = None
        now, at = now + 1, at + 1
        if at == ticks:
            at = first
