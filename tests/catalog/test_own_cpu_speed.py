"""The speed of this machine: measured once, kept, and measured again when it may differ."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from smtc_lab.catalog import own_cpu_speed as own
from smtc_lab.errors import CatalogError
from smtc_lab.machine.cpu_benchmark import BENCHMARK_VERSION, BenchmarkError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def forget() -> None:
    """Be a new process."""
    own._speed_for.cache_clear()
    own._benchmarked.cache_clear()


@pytest.fixture
def rates(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[list[float]]:
    """Rates that the benchmark gives one after the other, for a user who has none yet."""
    found = [own.REFERENCE_RATE, 2 * own.REFERENCE_RATE]
    monkeypatch.setenv("SMTC_LAB_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(own, "cpu_rate", lambda **_: found.pop(0))
    forget()
    yield found
    forget()


def test_the_reference_machine_has_the_speed_of_its_type(rates: list[float]) -> None:
    speed = own.own_cpu_speed()

    assert speed.value == pytest.approx(1.6)
    assert speed.rate == own.REFERENCE_RATE
    assert speed.benchmark_version == BENCHMARK_VERSION
    assert len(rates) == 1


def test_it_is_measured_once_for_all_processes(rates: list[float]) -> None:
    assert own.known_cpu_speed() is None

    first = own.own_cpu_speed()
    forget()

    assert own.own_cpu_speed() == own.known_cpu_speed() == first
    assert len(rates) == 1


def test_a_process_has_one_speed_in_every_home(
    rates: list[float], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    first = own.own_cpu_speed()
    monkeypatch.setenv("SMTC_LAB_HOME", str(tmp_path / "another"))

    assert own.own_cpu_speed() == own.known_cpu_speed() == first
    assert len(rates) == 1


@pytest.mark.parametrize("name", ["boot", "cpu", "cores", "numpy", "benchmark"])
@pytest.mark.usefixtures("rates")
def test_it_is_measured_again_when_it_may_differ(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = own.own_cpu_speed()
    others = {**own._conditions(), name: "another"}
    monkeypatch.setattr(own, "_conditions", lambda: others)
    forget()

    assert own.own_cpu_speed().value == pytest.approx(2 * first.value)


@pytest.mark.usefixtures("rates")
def test_a_damaged_file_is_measured_anew(tmp_path: Path) -> None:
    own.own_cpu_speed()
    (tmp_path / "home" / "cpu_speed.json").write_text("{")
    forget()

    assert own.known_cpu_speed() is None
    assert own.own_cpu_speed().rate == 2 * own.REFERENCE_RATE


@pytest.mark.usefixtures("rates")
def test_a_home_that_cannot_be_written_costs_a_benchmark_a_process(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SMTC_LAB_HOME", "/proc/none")

    assert own.own_cpu_speed().rate == own.REFERENCE_RATE
    assert own.own_cpu_speed().rate == own.REFERENCE_RATE


@pytest.mark.usefixtures("rates")
def test_a_benchmark_that_fails_says_what_to_give(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(**_: object) -> float:
        raise BenchmarkError("The CPU benchmark gave no figure (killed).")

    monkeypatch.setattr(own, "cpu_rate", fail)

    with pytest.raises(CatalogError, match=r"no figure \(killed\)\. .*--no-emulation"):
        own.own_cpu_speed()
