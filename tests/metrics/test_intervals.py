from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.signal import lfilter
from scipy.stats import ttest_ind, ttest_rel

from smtc_lab.metrics.intervals import (
    launch_interval,
    mean_interval,
    ratio_interval,
    share_interval,
)

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
    interval = mean_interval(values)

    assert interval.mean == pytest.approx(np.concatenate(values).mean())


@given(launch_lists)
@few
def test_the_mean_lies_in_its_interval(values: Launches) -> None:
    interval = mean_interval(values)

    assert interval.low <= interval.mean <= interval.high


@given(launch_lists, st.integers(-6, 6))
@few
def test_an_interval_scales_with_the_unit(values: Launches, power: int) -> None:
    interval = mean_interval(values)
    scaled = mean_interval([2.0**power * x for x in values])

    assert scaled.low == pytest.approx(interval.low * 2.0**power)
    assert scaled.high == pytest.approx(interval.high * 2.0**power)


@given(launch_lists)
@few
def test_the_ratio_of_a_thing_with_itself_spans_one(values: Launches) -> None:
    interval = ratio_interval(values, values)

    assert interval.mean == pytest.approx(1.0)
    assert interval.low <= 1.0 <= interval.high


@given(launch_lists, launch_lists)
@few
def test_a_ratio_lies_in_its_interval_and_above_zero(one: Launches, other: Launches) -> None:
    interval = ratio_interval(one, other)

    assert 0 < interval.low <= interval.mean <= interval.high


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


def test_unpaired_launches_give_welchs_interval() -> None:
    rng = np.random.default_rng(6)
    one, other = launches(rng, count=4, between=0.5), launches(rng, count=5, between=1.5)

    interval = ratio_interval(one, other)

    logs = [np.log([x.mean() for x in side]) for side in (one, other)]
    welch = ttest_ind(*logs, equal_var=False).confidence_interval(0.95)
    assert np.log(interval.high / interval.low) == pytest.approx(welch.high - welch.low)


def test_rounds_that_clearly_differ_give_the_paired_interval() -> None:
    rng = np.random.default_rng(7)
    slow = (1.0, 1.6, 0.7, 1.2)
    one, other = (
        [x * k for x, k in zip(launches(rng, count=4), slow, strict=True)] for _ in range(2)
    )

    interval = ratio_interval(one, other)

    logs = [np.log([x.mean() for x in side]) for side in (one, other)]
    paired = ttest_rel(*logs).confidence_interval(0.95)
    assert np.log(interval.high / interval.low) == pytest.approx(paired.high - paired.low)


def test_launches_are_what_an_interval_is_over_and_one_alone_says_so() -> None:
    rng = np.random.default_rng(8)

    assert mean_interval(launches(rng, count=3)).spread == "launches"
    assert mean_interval(launches(rng, count=1)).spread == "steps"
    assert mean_interval([np.array([0.3])]).spread == "none"
    assert ratio_interval(launches(rng, count=1), launches(rng, count=3)).spread == "steps"


def test_nothing_is_claimed_from_one_launch_of_a_side() -> None:
    fast, slow = np.full(100, 0.1), np.full(100, 0.9)

    assert ratio_interval([slow], [fast]).side_of(1) == 0
    assert ratio_interval([slow, slow * 1.01], [fast, fast * 1.01]).side_of(1) == 1
    assert ratio_interval([fast, fast * 1.01], [slow, slow * 1.01]).side_of(1) == -1


def test_two_launches_that_agree_by_chance_are_no_surer_than_their_steps() -> None:
    rng = np.random.default_rng(9)
    one = [x - x.mean() + 10 for x in launches(rng, count=2, rho=0.0)]
    other = [x - x.mean() + 10 for x in launches(rng, count=2, rho=0.0)]

    interval = ratio_interval(one, other)

    of_steps = 0.5 / 10 / 120**0.5
    assert np.log(interval.high) == pytest.approx(0.8 * 1.96 * of_steps, rel=0.15)


def test_more_candidates_and_looks_make_an_interval_wider_and_are_told() -> None:
    rng = np.random.default_rng(10)
    one, other = launches(rng, count=5, between=0.3), launches(rng, count=5, between=0.3)

    alone = ratio_interval(one, other)
    many = ratio_interval(one, other, candidates=3, looks=4)

    assert (many.candidates, many.looks, many.level) == (3, 4, 0.95)
    assert many.low < alone.low
    assert many.high > alone.high
    assert many.mean == alone.mean


def test_a_share_stays_between_none_and_all() -> None:
    interval = share_interval(0.98, [0.99, 0.94, 1.0])

    assert 0 < interval.low < 0.98
    assert interval.high == 1.0
    assert share_interval(0.5, [0.5]).spread == "none"


def test_values_of_launches_give_students_interval() -> None:
    interval = launch_interval([1.0, 2.0, 4.0])

    sd = np.std(np.log([1.0, 2.0, 4.0]), ddof=1)
    assert np.log(interval.high / interval.mean) == pytest.approx(
        4.3027 * sd / 3**0.5, rel=1e-4
    )


def coverage(kind: str, *, between: float, count: int, rho: float = 0.4) -> float:
    """Return how often an interval holds the truth, over 1,000 seeded repetitions."""
    hits = 0
    for seed in range(1000):
        rng = np.random.default_rng(seed)
        values = launches(rng, count=count, between=between, rho=rho)
        if kind == "mean":
            interval, truth = mean_interval(values), 10.0
        else:
            other = launches(rng, count=count, between=between, rho=rho)
            interval, truth = ratio_interval(values, other, paired=kind == "paired"), 1.0
        hits += interval.low <= truth <= interval.high
    return hits / 1000


# 1,000 repetitions tell a share of 95 % to 1.4 points
@pytest.mark.parametrize("kind", ["mean", "paired", "independent"])
@pytest.mark.parametrize("between", [0.0, 0.3])
@pytest.mark.parametrize("count", [2, 3, 5])
def test_93_to_99_percent_of_the_intervals_hold_the_truth(
    kind: str, between: float, count: int
) -> None:
    assert 0.93 <= coverage(kind, between=between, count=count) <= 0.99 + 0.005


@pytest.mark.parametrize("rho", [0.0, 0.6])
def test_one_launch_covers_its_own_correlated_steps(rho: float) -> None:
    assert 0.93 <= coverage("mean", between=0.0, count=1, rho=rho) <= 0.99


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
    assert mean_interval(values).low > 0


def test_values_on_both_sides_of_zero_have_an_interval_too() -> None:
    interval = mean_interval([np.array([-3.0]), np.array([1.0]), np.array([5.0])])

    assert interval.low < 0 < interval.mean < interval.high
