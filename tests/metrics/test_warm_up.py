from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smtc_lab.metrics.warm_up import common_warm_up, is_settled, warm_up_steps

step_times = st.lists(st.floats(1e-6, 1e3), max_size=120).map(np.array)


@pytest.mark.parametrize("num_steps", [0, 1])
def test_the_only_step_stays(num_steps: int) -> None:
    assert warm_up_steps(np.full(num_steps, 0.2)) == 0


@pytest.mark.parametrize("num_steps", [2, 3, 5, 11, 200])
def test_of_equal_steps_only_the_first_goes(num_steps: int) -> None:
    assert warm_up_steps(np.full(num_steps, 0.1)) == 1


def test_a_slow_begin_is_cut() -> None:
    rng = np.random.default_rng(0)
    settled_s = 0.1 * (1 + 0.02 * rng.standard_normal(100))
    settled_s[:21] += np.linspace(0.2, 0.05, 21)

    assert warm_up_steps(settled_s) == 21


def test_a_begin_that_is_too_fast_is_cut_too() -> None:
    step_time_s = np.tile([0.099, 0.101], 50)
    step_time_s[:11] = 0.03

    assert warm_up_steps(step_time_s) == 11


def test_a_launch_that_never_settles_keeps_its_second_half() -> None:
    cut = warm_up_steps(np.linspace(2.0, 1.0, 101))

    assert 45 <= cut <= 50


def test_one_stalled_step_late_in_a_launch_is_kept() -> None:
    step_time_s = np.full(100, 0.1)
    step_time_s[80] = 3.0

    assert warm_up_steps(step_time_s) <= 50


def test_rare_stalls_are_kept() -> None:
    rng = np.random.default_rng(1)
    kept, whole = 0.0, 0.0
    for _ in range(100):
        step_time_s = 0.1 * (1 + 0.02 * rng.standard_normal(100))
        step_time_s[rng.random(100) < 0.02] *= 10
        kept += step_time_s[warm_up_steps(step_time_s) :].mean()
        whole += step_time_s.mean()

    assert kept / whole == pytest.approx(1, abs=0.01)


def test_periodic_stalls_are_kept() -> None:
    step_time_s = np.full(100, 0.1)
    step_time_s[19::20] = 1.0

    assert warm_up_steps(step_time_s) == 1


def test_launches_that_are_compared_are_cut_alike() -> None:
    rng = np.random.default_rng(2)
    slow_at_first = 0.1 * (1 + 0.02 * rng.standard_normal(100))
    slow_at_first[:21] += 0.1
    others = [3.0 * (1 + 0.02 * rng.standard_normal(100)) for _ in range(3)]

    assert 21 <= common_warm_up([slow_at_first, *others]) <= 50


@pytest.mark.parametrize("num_steps", [32, 100, 300])
def test_a_queue_that_was_full_for_most_of_a_launch_is_told(num_steps: int) -> None:
    rng = np.random.default_rng(3)
    launches = [0.1 * (1 + 0.02 * rng.standard_normal(num_steps)) for _ in range(3)]
    for launch in launches:
        launch[: 2 * num_steps // 3] /= 2

    assert not is_settled(launches, common_warm_up(launches))


def test_a_warm_up_longer_than_half_a_launch_is_told() -> None:
    steps = np.arange(100)
    rng = np.random.default_rng(4)
    launches = [
        (1 + np.exp(-steps / 50)) * (1 + 0.02 * rng.standard_normal(100)) for _ in range(3)
    ]

    assert not is_settled(launches, common_warm_up(launches))


@pytest.mark.parametrize("num_steps", [1, 2, 7, 32, 100])
def test_steady_steps_are_settled(num_steps: int) -> None:
    alarms = 0
    for seed in range(100):
        rng = np.random.default_rng(seed)
        launches = [0.1 * (1 + 0.05 * rng.standard_normal(num_steps)) for _ in range(2)]
        alarms += not is_settled(launches, common_warm_up(launches))

    assert alarms <= 3


@given(step_times)
@settings(deadline=None)
def test_at_most_half_of_the_steps_go(step_time_s: np.ndarray) -> None:
    cut = warm_up_steps(step_time_s)

    assert min(1, len(step_time_s) // 2) <= cut <= len(step_time_s) // 2


@given(step_times, st.integers(-8, 8))
@settings(deadline=None)
def test_the_unit_of_time_does_not_matter(step_time_s: np.ndarray, power: int) -> None:
    assert warm_up_steps(step_time_s * 2.0**power) == warm_up_steps(step_time_s)


@pytest.mark.parametrize("wrong", [np.ones((2, 2)), np.array([1.0, np.nan, 1.0])])
def test_what_is_not_a_series_of_times_is_refused(wrong: np.ndarray) -> None:
    with pytest.raises(ValueError, match=r"step_time_s has the shape.*Give the steps of one"):
        warm_up_steps(wrong)
