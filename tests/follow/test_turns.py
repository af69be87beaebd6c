from __future__ import annotations

import time

import pytest

from smtc_lab.follow.turns import Turns


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Return a list whose one value is the time."""
    now_s = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: now_s[0])
    return now_s


def test_those_who_ask_at_once_are_let_through_one_after_the_other(
    clock: list[float],
) -> None:
    turns = Turns(100)

    assert [turns.take() for _ in range(3)] == pytest.approx([0.0, 0.01, 0.02])
    clock[0] += 0.025
    assert turns.take() == pytest.approx(0.005)


def test_who_asks_after_a_rest_need_not_wait(clock: list[float]) -> None:
    turns = Turns(100)
    turns.take()

    clock[0] += 5.0

    assert turns.take() == 0.0
    assert turns.take() == pytest.approx(0.01)
