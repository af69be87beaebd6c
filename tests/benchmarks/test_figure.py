from __future__ import annotations

import itertools

import numpy as np
import pytest

from notebooks.benchmarks.harness.figure import bench_figure


def test_a_figure_is_the_median_so_one_bad_round_does_not_move_it() -> None:
    figure = bench_figure("rate", [5, 4, 6, 1000, 3], unit="1/s", better="higher", goal=6.0)

    assert (figure.value, figure.holds) == (5, False)


@pytest.mark.parametrize(
    ("number", "low", "high"), [(1, None, None), (5, None, None), (6, 1, 6), (9, 2, 8)]
)
def test_fewer_than_six_repeats_have_no_interval(
    number: int, low: float | None, high: float | None
) -> None:
    figure = bench_figure("rate", range(number, 0, -1), unit="1/s", better="higher")

    assert (figure.low, figure.high) == (low, high)


@pytest.mark.parametrize("number", [6, 7, 12])
def test_the_interval_holds_the_median_of_a_skewed_distribution(number: int) -> None:
    # Which repeats are below the true median decides, and every pattern is as likely.
    held = 0
    for below in itertools.product((True, False), repeat=number):
        repeats = np.where(below, -1.0, 10.0**6)
        figure = bench_figure("rate", repeats, unit="1/s", better="higher")
        assert figure.low is not None
        assert figure.high is not None
        held += figure.low <= 0 <= figure.high

    assert 0.95 <= held / 2**number < 1


@pytest.mark.parametrize("repeats", [[], [1.0, float("nan")]])
def test_repeats_that_were_not_measured_are_refused(repeats: list[float]) -> None:
    with pytest.raises(ValueError, match=r"'rate' has the repeats \[.*needs at least one, all"):
        bench_figure("rate", repeats, unit="1/s", better="higher")
