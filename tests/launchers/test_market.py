"""When a market takes instances, and when it gives them."""

from __future__ import annotations

import json
import math
import statistics
from typing import TYPE_CHECKING, Any

import pytest

from smtc_lab.errors import LauncherError
from smtc_lab.launchers.supervision.market import MarketClock, read_trace
from smtc_lab.spec.spot import Market

if TYPE_CHECKING:
    from pathlib import Path


def clock(seed: int = 0, num_instances: int = 1, **values: Any) -> MarketClock:
    market = Market(**values).model_dump()
    return MarketClock(market, num_instances=num_instances, seed=seed)


@pytest.mark.parametrize("variation", [0.5, 1.0, 2.6])
def test_lifetimes_have_their_mean_and_variation(variation: float) -> None:
    drawn = clock(mean_time_between_s=7200.0, variation=variation, time_scale=3600.0)
    lives = [drawn.next_interruption_s(5.0) - 5.0 for _ in range(40_000)]

    assert statistics.mean(lives) == pytest.approx(2.0, rel=0.06)
    found = statistics.stdev(lives) / statistics.mean(lives)
    assert found == pytest.approx(variation, rel=0.1)


def test_the_mean_time_between_interruptions_is_of_this_machine() -> None:
    assert clock(interruptions_s=(30.0,)).mean_time_between_s is None
    drawn = clock(mean_time_between_s=7200.0, variation=2.6, time_scale=3600.0)
    assert drawn.mean_time_between_s == 2.0


def test_moments_are_taken_once_and_waits_are_exponential() -> None:
    told = clock(interruptions_s=(30.0, 10.0), time_scale=10.0, mean_wait_s=50.0)

    assert told.next_interruption_s(0.0) == 1.0
    assert told.next_interruption_s(1.0) == 3.0
    assert told.next_interruption_s(3.0) == math.inf
    waits = [told.next_capacity_s(1.0, after_loss=True) - 1.0 for _ in range(20_000)]
    assert statistics.mean(waits) == pytest.approx(5.0, rel=0.05)
    assert told.next_capacity_s(1.0, after_loss=False) == 1.0


def test_a_trace_says_when_there_are_enough(tmp_path: Path) -> None:
    trace = tmp_path / "trace.json"
    trace.write_text(json.dumps({"metadata": {"gap_seconds": 10}, "data": [1, 2, 2, 1, 0, 2]}))
    told = clock(num_instances=2, trace=str(trace))

    assert told.mean_time_between_s == 30.0  # three moments with two, and one loss
    assert told.next_capacity_s(0.0, after_loss=False) == 10.0
    assert told.next_interruption_s(10.0) == 30.0
    assert told.next_capacity_s(31.0, after_loss=True) == 50.0
    assert told.next_interruption_s(50.0) == math.inf
    assert clock(num_instances=3, trace=str(trace)).next_capacity_s(0, after_loss=False) == (
        math.inf
    )


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        '{"data": [1]}',
        '{"metadata": {"gap_seconds": 0}, "data": [1]}',
        '{"metadata": {"gap_seconds": 1}, "data": []}',
        '{"metadata": {"gap_seconds": 1}, "data": [-1]}',
        '{"metadata": {"gap_seconds": 1}, "data": [NaN]}',
        '{"metadata": {"gap_seconds": 1}, "data": [true]}',
        '{"metadata": {"gap_seconds": 1}, "data": [1, [2]]}',
    ],
)
def test_what_is_no_trace_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "trace.json"
    path.write_text(text)

    with pytest.raises(LauncherError, match=r"cannot be read .* Give a file like"):
        read_trace(path)


def test_a_trace_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LauncherError, match="cannot be read"):
        read_trace(tmp_path / "none.json")
