from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from smtc_lab.planner.pareto import distinct, excess, knee, pareto

POINTS = st.lists(st.tuples(st.integers(1, 20), st.integers(1, 20)), min_size=1, max_size=30)


def columns(points: list[tuple[int, int]]) -> tuple[np.ndarray, np.ndarray]:
    time, cost = np.array(points, dtype=np.float64).T
    return time, cost


@given(points=POINTS)
def test_the_front_is_what_nobody_beats(points: list[tuple[int, int]]) -> None:
    time, cost = columns(points)

    front = {(time[place], cost[place]) for place in pareto(time, cost)}

    beaten = {
        own
        for own in points
        if any(o[0] <= own[0] and o[1] <= own[1] and o != own for o in points)
    }
    assert front == set(points) - beaten


@given(points=POINTS)
def test_no_set_up_is_cheaper_than_the_front_at_its_time(
    points: list[tuple[int, int]],
) -> None:
    time, cost = columns(points)
    front = pareto(time, cost)

    over = excess(time, cost, front)

    assert (over >= 0).all()
    assert (over[front] == 0).all()


def test_a_front_runs_from_the_fastest_to_the_cheapest() -> None:
    time, cost = np.array([3.0, 1.0, 2.0]), np.array([1.0, 9.0, 4.0])

    assert pareto(time, cost).tolist() == [1, 2, 0]


def test_an_unknown_cost_stands_on_no_front() -> None:
    time, cost = np.array([1.0, 2.0]), np.array([np.nan, 5.0])

    assert pareto(time, cost).tolist() == [1]
    assert excess(time, cost, np.array([1]))[0] == np.inf


def test_what_is_faster_by_less_than_a_percent_is_dropped_for_the_cheaper_one() -> None:
    time, cost = np.array([1.0, 1.005, 2.0]), np.array([9.0, 4.0, 1.0])

    assert distinct(time, pareto(time, cost)).tolist() == [1, 2]


def test_the_knee_is_the_corner_of_an_l() -> None:
    time, cost = np.array([1.0, 1.1, 10.0]), np.array([10.0, 1.1, 1.0])

    assert knee(time, cost) == 1


@pytest.mark.parametrize("count", [1, 2])
def test_a_front_without_a_middle_has_its_knee_at_the_cheapest(count: int) -> None:
    time, cost = np.array([1.0, 2.0])[:count], np.array([2.0, 1.0])[:count]

    assert knee(time, cost) == count - 1
