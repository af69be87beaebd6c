from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.signal import lfilter
from scipy.special import stdtrit

from smtc_lab.metrics.bootstrap import _student, mean_interval, ratio_interval

Launches = list[NDArray[np.float64]]

launch_lists = st.lists(
    st.lists(st.floats(1e-3, 1e3), min_size=1, max_size=40).map(np.array),
    min_size=1,
    max_size=5,
)
few = settings(max_examples=40, deadline=None)


def correlated(rng: np.random.Generator, num_steps: int, rho: float) -> NDArray[np.float64]:
    """Return an AR(1) series with innovations of standard deviation 1, settled."""
    noise = rng.standard_normal(num_steps + 100)
    series: NDArray[np.float64] = lfilter([1.0], [1.0, -rho], noise)[100:]
    return series


def launches(
    rng: np.random.Generator,
    *,
    count: int,
    num_steps: int = 120,
    rho: float = 0.4,
    between: float = 0.0,
) -> Launches:
    """Return launches with mean 10 whose own means differ by ``between``."""
    return [
        10 + between * rng.standard_normal() + 0.5 * correlated(rng, num_steps, rho)
        for _ in range(count)
    ]


@given(launch_lists)
@few
def test_the_mean_is_total_time_over_total_steps(values: Launches) -> None:
    interval = mean_interval(values, num_resamples=50)

    assert interval.mean == pytest.approx(np.concatenate(values).mean())


@given(launch_lists)
@few
def test_the_mean_lies_in_its_interval(values: Launches) -> None:
    interval = mean_interval(values, num_resamples=50)

    assert interval.low <= interval.mean <= interval.high


@given(launch_lists, st.integers(-6, 6))
@few
def test_an_interval_scales_with_the_unit(values: Launches, power: int) -> None:
    interval = mean_interval(values, num_resamples=50)
    scaled = mean_interval([2.0**power * x for x in values], num_resamples=50)

    assert scaled.low == pytest.approx(interval.low * 2.0**power)
    assert scaled.high == pytest.approx(interval.high * 2.0**power)


@given(launch_lists)
@few
def test_the_ratio_of_a_thing_with_itself_spans_one(values: Launches) -> None:
    interval = ratio_interval(values, values, num_resamples=50)

    assert interval.mean == pytest.approx(1.0)
    assert interval.low <= 1.0 <= interval.high


@given(launch_lists, launch_lists)
@few
def test_a_ratio_lies_in_its_interval_and_above_zero(one: Launches, other: Launches) -> None:
    interval = ratio_interval(one, other, num_resamples=50)

    assert 0 < interval.low <= interval.mean <= interval.high


def test_the_same_seed_gives_the_same_interval_and_another_one_does_not() -> None:
    values = launches(np.random.default_rng(0), count=3)

    assert mean_interval(values) == mean_interval(values)
    assert mean_interval(values, seed=1).low != mean_interval(values).low


def test_equal_steps_have_an_interval_without_width() -> None:
    interval = mean_interval([np.full(30, 0.1), np.full(50, 0.1)])

    assert interval.high - interval.low < 1e-12


def test_one_step_has_an_interval_without_width() -> None:
    assert mean_interval([np.array([0.3])]).low == 0.3


def test_swapping_the_sides_gives_the_reciprocal() -> None:
    rng = np.random.default_rng(1)
    one, other = launches(rng, count=3), launches(rng, count=3)

    there = ratio_interval(one, other)
    back = ratio_interval(other, one)

    assert back.mean == pytest.approx(1 / there.mean)
    assert back.low == pytest.approx(1 / there.high, rel=0.01)


def test_more_steps_make_an_interval_narrower() -> None:
    rng = np.random.default_rng(2)
    short = mean_interval(launches(rng, count=1, num_steps=50))
    long = mean_interval(launches(rng, count=1, num_steps=5000))

    assert long.high - long.low < 0.3 * (short.high - short.low)


def test_launches_that_differ_make_an_interval_wider() -> None:
    rng = np.random.default_rng(3)
    alike = mean_interval(launches(rng, count=5))
    unlike = mean_interval(launches(rng, count=5, between=1.0))

    assert unlike.high - unlike.low > 3 * (alike.high - alike.low)


def test_what_slows_a_whole_round_leaves_a_paired_ratio_alone() -> None:
    rng = np.random.default_rng(4)
    slow = (1.0, 1.3, 0.8, 1.1, 0.9)
    one = [x * k for x, k in zip(launches(rng, count=5), slow, strict=True)]
    other = [x * k for x, k in zip(launches(rng, count=5), slow, strict=True)]

    paired = ratio_interval(one, other)
    independent = ratio_interval(one, other, paired=False)

    assert paired.high - paired.low < 0.2 * (independent.high - independent.low)


def coverage(kind: str, *, between: float, count: int, rho: float = 0.4) -> float:
    """Return how often an interval holds the truth, over 200 seeded repetitions."""
    hits = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        values = launches(rng, count=count, between=between, rho=rho)
        if kind == "mean":
            interval, truth = mean_interval(values, num_resamples=400), 10.0
        else:
            other = launches(rng, count=count, between=between, rho=rho)
            paired = kind == "paired"
            interval = ratio_interval(values, other, paired=paired, num_resamples=400)
            truth = 1.0
        hits += interval.low <= truth <= interval.high
    return hits / 200


@pytest.mark.parametrize("kind", ["mean", "paired", "independent"])
@pytest.mark.parametrize("between", [0.0, 0.3])
@pytest.mark.parametrize("count", [3, 5])
def test_about_95_percent_of_the_intervals_hold_the_truth(
    kind: str, between: float, count: int
) -> None:
    assert 0.85 <= coverage(kind, between=between, count=count) <= 1.0


def test_one_launch_covers_its_own_correlated_steps() -> None:
    assert 0.85 <= coverage("mean", between=0.0, count=1) <= 1.0


def test_two_sides_of_five_long_launches_take_few_draws() -> None:
    rng = np.random.default_rng(5)
    one = launches(rng, count=5, num_steps=2000)
    other = launches(rng, count=5, num_steps=2000)

    interval = ratio_interval(one, other)

    assert interval.high - interval.low < 0.02


@pytest.mark.parametrize("degrees", [1, 2, 3, 5, 10, 11, 20, 100])
def test_students_quantile_is_that_of_scipy(degrees: int) -> None:
    assert _student(degrees) == pytest.approx(stdtrit(degrees, 0.975), rel=1e-3)


def test_no_launch_is_refused() -> None:
    with pytest.raises(ValueError, match=r"launches is empty.*Measure one"):
        mean_interval([])


@pytest.mark.parametrize("wrong", [np.array([]), np.ones((2, 2))])
def test_what_is_not_a_series_is_refused(wrong: NDArray[np.float64]) -> None:
    with pytest.raises(ValueError, match=r"launches\[1\] has the shape.*Give the steps"):
        mean_interval([np.ones(3), wrong])


def test_a_value_that_is_not_finite_is_refused() -> None:
    with pytest.raises(ValueError, match=r"launches\[0\] holds nan.*Drop the step"):
        mean_interval([np.array([1.0, np.nan])])


def test_a_ratio_needs_values_above_zero() -> None:
    with pytest.raises(ValueError, match=r"denominator\[0\] holds 0.0.*above 0.0"):
        ratio_interval([np.ones(3)], [np.zeros(3)])


def test_paired_sides_have_equally_many_launches() -> None:
    with pytest.raises(ValueError, match=r"have 1 and 2 launches.*paired=False"):
        ratio_interval([np.ones(3)], [np.ones(3)] * 2, paired=True)


@given(launch_lists)
@few
def test_an_interval_of_times_never_reaches_zero(values: Launches) -> None:
    assert mean_interval(values, num_resamples=50).low > 0


def test_values_on_both_sides_of_zero_have_an_interval_too() -> None:
    interval = mean_interval([np.array([-3.0]), np.array([1.0]), np.array([5.0])])

    assert interval.low < 0 < interval.mean < interval.high
