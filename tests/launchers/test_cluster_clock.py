"""A run's clock: cluster time while an emulation takes steps, this machine's otherwise."""

from __future__ import annotations

import math
import os
import time
from types import SimpleNamespace
from typing import TYPE_CHECKING
from unittest.mock import MagicMock

import pytest

from smtc_lab.launchers.supervision.cluster_clock import ClusterClock
from smtc_lab.launchers.supervision.gang_supervisor import supervise_instances
from smtc_lab.launchers.supervision.interrupts import Interrupts
from smtc_lab.metrics.records.attempts import Attempt, billed_in_cluster_time_s
from smtc_lab.store.run_folder import RunFolder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


class Hand:
    """A clock that goes when it is told to."""

    def __init__(self) -> None:
        self.at_s = 100.0

    def monotonic(self) -> float:
        return self.at_s


@pytest.fixture
def hand(monkeypatch: pytest.MonkeyPatch) -> Hand:
    hand = Hand()
    monkeypatch.setattr(ClusterClock, "clock", hand)
    return hand


def test_seconds_of_steps_are_divided_and_others_are_not(hand: Hand) -> None:
    clock = ClusterClock(5.0)

    hand.at_s += 2.0  # the instances start
    assert (clock.now_s, clock.left_s(3.0), clock.waits_for_steps) == (2.0, 1.0, True)
    clock.take_steps()
    assert (clock.left_s(3.0), clock.waits_for_steps) == (5.0, False)
    hand.at_s += 10.0
    assert clock.now_s == pytest.approx(4.0)
    assert clock.left_s(3.0) == pytest.approx(-5.0)
    clock.take_none()
    hand.at_s += 1.5
    assert clock.now_s == pytest.approx(5.5)
    assert clock.left_s(math.inf) == math.inf
    assert clock.left_s(-math.inf) == -math.inf


def test_without_an_emulation_it_is_this_machines(hand: Hand) -> None:
    clock = ClusterClock()
    clock.take_steps()
    hand.at_s += 4.0

    assert (clock.now_s, clock.left_s(5.0), clock.waits_for_steps) == (4.0, 1.0, False)


@pytest.fixture
def interrupts(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Interrupts]]:
    heard, said = os.pipe()
    monkeypatch.setattr(
        "smtc_lab.launchers.supervision.interrupts.signals_as_bytes", lambda: heard
    )

    def make(max_wait_s: float | None = None) -> Interrupts:
        one = Interrupts(limit_s=60.0, detached=True, max_wait_s=max_wait_s)
        one.clock = ClusterClock(10.0)
        return one

    yield make
    os.close(heard)
    os.close(said)


@pytest.mark.usefixtures("interrupts")  # it takes no signal of this process
@pytest.mark.parametrize("sees_steps", [True, False])
def test_nobody_waits_for_steps_that_are_counted_elsewhere(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    sees_steps: bool,  # noqa: FBT001  a parameter of the test
) -> None:
    made: list[Interrupts] = []

    def begin(*_: object, interrupts: Interrupts, **__: object) -> SimpleNamespace:
        made.append(interrupts)
        return SimpleNamespace(run=lambda: None)

    monkeypatch.setattr("smtc_lab.launchers.supervision.gang_supervisor.Supervisor", begin)
    plan = {"spot": {"dilation": 4.0}, "max_runtime_s": 60.0}
    supervise_instances(
        RunFolder(tmp_path), plan, detached=True, sees_steps=sees_steps, of=MagicMock()
    )

    assert [one.clock.waits_for_steps for one in made] == [sees_steps]


def test_a_market_and_max_wait_count_cluster_time(
    interrupts: Callable[..., Interrupts],
) -> None:
    for begins, least_s in (("take_none", 0.04), ("take_steps", 0.4)):
        for told in ("market", "max_wait"):
            one = interrupts(0.04 if told == "max_wait" else None)
            if told == "market":
                one.interruption_at_s = 0.04
            getattr(one.clock, begins)()
            began_s = time.monotonic()
            ended = one.wait()
            assert ended is not None
            assert ended.state == ("Interrupted" if told == "market" else "Stopped")
            assert time.monotonic() - began_s >= 0.9 * least_s


def test_billed_time_of_attempts_is_theirs_in_cluster_time() -> None:
    attempts = [
        Attempt(started_s=0.0, stepping_s=2.0, ended_s=12.0),
        Attempt(started_s=20.0, ended_s=21.0),  # taken away before its first step
        Attempt(started_s=30.0, stepping_s=31.0, ended_s=36.0),
    ]

    assert billed_in_cluster_time_s(attempts, dilation=5.0) == pytest.approx(4 + 1 + 2)
    assert billed_in_cluster_time_s(attempts, dilation=1.0) == pytest.approx(12 + 1 + 6)
