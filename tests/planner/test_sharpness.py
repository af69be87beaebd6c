"""How stages overlap: the p-norm, its default, and its fit to whole runs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from smtc_lab.planner.model.model import Model
from smtc_lab.planner.model.sharpness import default_sharpness, fitted_sharpness, p_norm
from tests.kit.calibrations import calibration, run_point


@given(
    stages=st.lists(st.floats(1e-6, 1e3), min_size=1, max_size=5),
    inverse_p=st.floats(0.0, 1.0),
)
def test_a_p_norm_lies_between_the_longest_stage_and_the_sum(
    stages: list[float], inverse_p: float
) -> None:
    norm = float(p_norm(np.array(stages), np.array(inverse_p)))

    assert max(stages) * (1 - 1e-9) <= norm <= sum(stages) * (1 + 1e-9)


@given(stages=st.lists(st.floats(1e-6, 1e3), min_size=1, max_size=5))
def test_an_infinite_p_is_the_longest_stage_and_p_of_one_the_sum(stages: list[float]) -> None:
    assert p_norm(np.array(stages), np.array(0.0)) == pytest.approx(max(stages), rel=0.002)
    assert p_norm(np.array(stages), np.array(1.0)) == pytest.approx(sum(stages))


def test_p_is_fitted_to_runs_at_three_worker_counts() -> None:
    two = tuple(run_point(0.1 / n, n) for n in (1, 2))
    stages = np.array([[0.1, 0.05], [0.05, 0.05], [0.03, 0.05]])

    hard = fitted_sharpness(stages, stages.max(axis=1))
    soft = fitted_sharpness(stages, p_norm(stages, np.array(1 / 2.5)))

    assert hard.is_fitted
    assert hard.inverse_p < 0.1
    assert soft.inverse_p == pytest.approx(1 / 2.5, abs=0.07)
    assert not Model(calibration(run_points=two), 0).sharpness.is_fitted


def test_runs_that_are_far_from_balance_leave_p_at_its_default() -> None:
    stages = np.array([[0.1, 0.001], [0.05, 0.001], [0.03, 0.001]])

    found = fitted_sharpness(stages, stages.max(axis=1))

    assert not found.is_fitted
    assert found.inverse_p == default_sharpness().inverse_p == 1 / 12


@pytest.mark.parametrize(("has_barrier", "least"), [(False, 4), (True, 3)])
def test_the_default_band_of_p_reaches_from_its_least_to_infinity(
    has_barrier: bool,  # noqa: FBT001  a parameter of a test
    least: float,
) -> None:
    known = default_sharpness(has_barrier=has_barrier)
    draws = known.draws(np.linspace(0, 1, 1001, endpoint=False))

    assert draws.min() == pytest.approx(0.0, abs=0.01)
    assert draws.max() == pytest.approx(1 / least, abs=0.01)


def test_runs_that_no_p_explains_leave_it_at_its_default() -> None:
    stages = np.array([[0.05, 0.05], [0.05, 0.05], [0.05, 0.05]])

    found = fitted_sharpness(stages, np.array([0.04, 0.05, 0.09]))

    assert not found.is_fitted
