from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smtc_lab.metrics.warm_up import warm_up_steps

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
