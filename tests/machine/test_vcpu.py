from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

import pytest

from smtc_lab.machine.quota.vcpu import (
    COUNTER_VARIABLE,
    VCPU_VARIABLE,
    CpuCounter,
    Vcpu,
    own_vcpu,
    vcpu_text,
)

if TYPE_CHECKING:
    from pathlib import Path


class Clock:
    """A thread's clocks, which go as they are told."""

    def __init__(self) -> None:
        self.now_s = 100.0
        self.used_s = 7.0

    def perf_counter(self) -> float:
        return self.now_s

    def thread_time(self) -> float:
        return self.used_s

    def sleep(self, seconds: float) -> None:
        self.now_s += seconds

    def compute(self, seconds: float, *, held_s: float = 0.0) -> None:
        """Compute so long, and stand still for a time between: a quota's, or another's."""
        self.used_s += seconds
        self.now_s += seconds + held_s


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(Vcpu, "clock", made)
    return made


def took_s(clock: Clock, vcpu: Vcpu, computed_s: float, *, held_s: float = 0.0) -> float:
    began_s = clock.now_s
    vcpu.begin()
    clock.compute(computed_s, held_s=held_s)
    vcpu.wait()
    return clock.now_s - began_s


def test_what_a_thread_computes_takes_as_long_as_on_a_vcpu(clock: Clock) -> None:
    assert took_s(clock, Vcpu(0.25), 0.1) == pytest.approx(0.4)
    assert took_s(clock, Vcpu(1.0), 0.1) == pytest.approx(0.1)


def test_what_a_quota_has_held_up_is_not_held_up_again(clock: Clock) -> None:
    assert took_s(clock, Vcpu(0.25), 0.1, held_s=0.2) == pytest.approx(0.4)
    assert took_s(clock, Vcpu(0.25), 0.1, held_s=2.0) == pytest.approx(2.1)


def test_what_is_computed_behind_a_wait_delays_what_comes_next(clock: Clock) -> None:
    vcpu = Vcpu(0.5)
    took_s(clock, vcpu, 0.1)
    clock.compute(0.02)  # sends what was waited for
    vcpu.note()

    assert took_s(clock, vcpu, 0.1) == pytest.approx(0.22)


def test_a_pause_is_no_credit(clock: Clock) -> None:
    vcpu = Vcpu(0.5)
    took_s(clock, vcpu, 0.1)
    clock.now_s += 5.0

    assert took_s(clock, vcpu, 0.1) == pytest.approx(0.2)


def test_waits_too_short_to_be_slept_add_up(clock: Clock) -> None:
    vcpu = Vcpu(0.5)
    began_s = clock.now_s

    for _ in range(1000):
        took_s(clock, vcpu, 0.0001)

    assert clock.now_s - began_s == pytest.approx(0.2, rel=0.02)


def test_each_thread_has_a_vcpu(clock: Clock) -> None:
    vcpu = Vcpu(0.25)
    vcpu.begin()
    clock.compute(0.1)
    other = threading.Thread(target=vcpu.begin)
    other.start()
    other.join()
    vcpu.wait()

    assert clock.now_s == pytest.approx(100.4)


def test_what_a_process_loads_itself_is_counted_for_another(
    clock: Clock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VCPU_VARIABLE, vcpu_text(0.5, 8, 1))
    monkeypatch.setenv(COUNTER_VARIABLE, str(tmp_path / "loading"))
    trainers, workers = own_vcpu(is_counted=True), own_vcpu()
    assert trainers is not None
    assert workers is not None

    took_s(clock, trainers, 0.1)
    took_s(clock, workers, 0.5)  # the quota counts it
    took_s(clock, trainers, 0.2)

    assert CpuCounter(tmp_path / "loading").used_s == pytest.approx(0.3)


@pytest.mark.parametrize(
    ("threads", "share"),  # busy ones of each trainer, trainers, threads of each core
    [
        ((1, 1, 2), 1.6),  # alone on its core
        ((4, 1, 2), 1.6),  # each on one of four
        ((6, 1, 2), (4 * 1.6 + 2 * 0.4) / 6),  # two cores are shared
        ((8, 1, 2), 1.0),
        ((20, 1, 2), 1.0),  # the rest waits for the quota
        ((2, 2, 2), 1.6),
        ((2, 4, 2), 1.0),
        ((1, 1, 1), 1.0),
    ],
)
def test_a_vcpu_is_faster_while_the_other_thread_of_its_core_rests(
    clock: Clock, monkeypatch: pytest.MonkeyPatch, threads: tuple[int, int, int], share: float
) -> None:
    busy, trainers, per_core = threads
    monkeypatch.setenv(VCPU_VARIABLE, vcpu_text(0.25, 8, per_core))
    monkeypatch.setenv("LOCAL_WORLD_SIZE", str(trainers))
    vcpu = own_vcpu(busy=busy)
    assert vcpu is not None

    assert took_s(clock, vcpu, 1.0) == pytest.approx(1 / (0.25 * share))


def test_nothing_is_held_where_nothing_is_emulated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VCPU_VARIABLE, raising=False)

    assert own_vcpu() is None


def test_the_clocks_are_those_of_the_system() -> None:
    vcpu = Vcpu(0.1)
    began_s = time.perf_counter()
    vcpu.begin()
    until_s = time.thread_time() + 0.01
    while time.thread_time() < until_s:
        pass
    vcpu.wait()

    assert time.perf_counter() - began_s >= 0.1
