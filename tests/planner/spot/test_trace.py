"""Traces: what is read of a file, and which futures come of it."""

from __future__ import annotations

import json
import math
import os
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from smtc_lab.errors import PlannerError
from smtc_lab.planner.spot.lifetimes import given_lifetimes
from smtc_lab.planner.spot.trace import FOREVER_S, SpotTrace
from tests.planner.spot.traces import heavy_tailed, trace_of, windows_from

if TYPE_CHECKING:
    from pathlib import Path

GOOD = {"metadata": {"gap_seconds": 195}, "data": [1, 1, 0]}


def test_a_trace_is_read_from_its_file(tmp_path: Path) -> None:
    path = tmp_path / "us-west-2c.json"
    path.write_text(json.dumps({**GOOD, "data": [2, 0, 1.0]}))

    trace = SpotTrace.load(path)

    assert trace.gap_s == 195
    assert trace.available.tolist() == [2, 0, 1]
    assert trace.name == "us-west-2c.json"
    assert trace.span_s == 585


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ("{", r"is not JSON"),
        ("[" * 200_000, r"is not JSON"),
        ("[1, 0]", r"has not both 'metadata' and 'data'"),
        ({"data": [1]}, r"has not both"),
        ({**GOOD, "metadata": []}, r"has not both"),
        ({**GOOD, "data": "111"}, r"has not both"),
        ({**GOOD, "metadata": {}}, r"gap_seconds=None, but needs a number"),
        ({**GOOD, "metadata": {"gap_seconds": 0}}, r"gap_seconds=0"),
        ({**GOOD, "metadata": {"gap_seconds": -195}}, r"gap_seconds=-195"),
        ({**GOOD, "metadata": {"gap_seconds": True}}, r"gap_seconds=True"),
        ({**GOOD, "metadata": {"gap_seconds": "195"}}, r"gap_seconds='195'"),
        ({**GOOD, "metadata": {"gap_seconds": math.nan}}, r"gap_seconds=nan"),
        ({**GOOD, "metadata": {"gap_seconds": 1e9}}, r"of at most a day"),
        ({**GOOD, "data": []}, r"has 0 ticks"),
        ({**GOOD, "data": [0] * 4_000_001}, r"has 4,000,001 ticks"),
        ({**GOOD, "data": [1, -1]}, r"data\[1\]=-1"),
        ({**GOOD, "data": [1, 0.5]}, r"data\[1\]=0\.5"),
        ({**GOOD, "data": [math.nan]}, r"data\[0\]=nan"),
        ({**GOOD, "data": [math.inf]}, r"data\[0\]=inf"),
        ({**GOOD, "data": [True]}, r"data\[0\]=True"),
        ({**GOOD, "data": ["1"]}, r"data\[0\]='1'"),
        ({**GOOD, "data": [None]}, r"data\[0\]=None"),
        ({**GOOD, "data": [10**30]}, r"data\[0\]=1000"),
        ({**GOOD, "data": [["deep"] * 1000]}, r"data\[0\]=\['deep'"),
    ],
)
def test_what_is_no_trace_is_refused(tmp_path: Path, wrong: Any, message: str) -> None:
    path = tmp_path / "trace.json"
    path.write_text(wrong if isinstance(wrong, str) else json.dumps(wrong))

    with pytest.raises(PlannerError, match=message) as refused:
        SpotTrace.load(path)
    assert len(str(refused.value)) < 400


def test_a_file_that_is_none_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    (tmp_path / "long").touch()
    os.truncate(tmp_path / "long", 2**36)
    (tmp_path / "round").symlink_to(tmp_path / "round")
    (tmp_path / "bytes").write_bytes(b"\xff\xfe\x00{")

    for name, message in (
        ("pipe", "is not read"),
        ("folder", "is not read"),
        ("long", "is not read"),
        ("round", "cannot be read"),
        ("missing", "cannot be read"),
        ("bytes", "is not JSON"),
    ):
        with pytest.raises(PlannerError, match=message):
            SpotTrace.load(tmp_path / name)


def taken(trace: SpotTrace, *, windows: int, futures: int = 200, instances: int = 1) -> Any:
    """Return starts and ends of the first windows of some futures, shape (2, windows, F)."""
    drawn = trace.windows(instances, futures, np.random.default_rng(3))
    return np.array([next(drawn) for _ in range(windows)]).swapaxes(0, 1)


@pytest.mark.parametrize("days", [0.4, 1.0, 3.7])
def test_futures_are_windows_of_the_trace_in_its_order(days: float) -> None:
    trace = heavy_tailed(seed=5, up_h=1.0, down_h=1.0, days=days)
    begin_s = trace.span_s * np.random.default_rng(3).random(200)

    starts, ends = taken(trace, windows=60)

    for future in range(0, 200, 10):
        begin = int(begin_s[future] // trace.gap_s)
        shift_s = begin_s[future] - begin * trace.gap_s
        expected = windows_from(trace, begin)
        for number in range(60):
            start_s, end_s = next(expected)
            assert starts[number, future] == pytest.approx(max(0.0, start_s - shift_s), abs=1)
            assert ends[number, future] == pytest.approx(end_s - shift_s, abs=1)


def test_futures_keep_the_rhythm_of_days() -> None:
    office_hours = [0] * 9 + [1] * 8 + [0] * 7
    trace = trace_of((office_hours * 4)[:-5], gap_s=3600.0)

    starts, ends = taken(trace, windows=12)

    begins_s = trace.span_s * np.random.default_rng(3).random(200)
    assert (starts[1:] + begins_s) % 86_400 == pytest.approx(
        np.full_like(starts[1:], 9 * 3600)
    ), "at the end it is 19 o'clock, and so it is where it goes on"
    assert np.unique((ends - starts)[1:].round()).tolist() == [8 * 3600]


def test_a_constant_trace_has_one_window_without_end() -> None:
    _, ends = taken(trace_of([3] * 50), windows=2, instances=3)

    assert (ends > FOREVER_S / 2).all()
    with pytest.raises(PlannerError, match=r"never has instances=4 at once, but at most 3"):
        trace_of([3] * 50).windows(4, 10, np.random.default_rng(0))


def test_the_lifetimes_of_a_trace_are_those_of_its_stretches() -> None:
    trace = trace_of([0, 1, 1, 1, 0, 0, 2, 0], gap_s=100.0)

    lifetimes, _ = given_lifetimes(trace, instances=1)
    pairs, _ = given_lifetimes(trace, instances=2)

    assert lifetimes.mean_time_between_s == 200
    assert lifetimes.variation == pytest.approx(0.5)
    assert lifetimes.mean_wait_s == pytest.approx(400 / 3)
    assert lifetimes.availability == 0.5
    assert pairs.mean_time_between_s == 100
    with pytest.raises(PlannerError, match=r"never has instances=3"):
        given_lifetimes(trace, instances=3)
