"""How fast one vCPU of this machine is, beside one of ml.p3.2xlarge."""

from __future__ import annotations

import contextlib
import json
import os
import platform
import threading
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from smtc_lab.catalog.cpu_speed import relative_cpu_speed
from smtc_lab.errors import CatalogError
from smtc_lab.machine.cores import available_cores, cpu_model
from smtc_lab.machine.cpu_benchmark import BENCHMARK_VERSION, BenchmarkError, cpu_rate
from smtc_lab.machine.home import HOME_VARIABLE, home

if TYPE_CHECKING:
    from collections.abc import Mapping

REFERENCE_RATE = 1130.0
"""Rate of ``cpu_benchmark`` of one vCPU of the reference machine, both of its vCPUs busy.

Measured on 2026-11-22 on a virtual machine with two vCPUs of an Intel Xeon with AMX at 2.6 GHz
(Sapphire Rapids or later), Python 3.11, numpy 2.4 with OpenBLAS.
"""

REFERENCE_TYPE = "ml.c7i.large"
"""The instance type whose speed the table's estimate gives to the reference machine."""

_SECONDS = 0.4
_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


@dataclass(frozen=True, slots=True)
class OwnCpuSpeed:
    """Speed of one vCPU of this machine with all of them busy."""

    value: float
    """1.0 is a vCPU of ml.p3.2xlarge; 2.0 does the same work in half the time. Measured beside
    the reference machine, whose own place beside ml.p3.2xlarge is the catalog's estimate."""

    rate: float
    """What the benchmark measured: rounds per CPU-second."""

    benchmark_version: int = BENCHMARK_VERSION
    """Rates of different versions cannot be compared."""


def own_cpu_speed() -> OwnCpuSpeed:
    """Return the speed of one vCPU of this machine.

    A benchmark of about half a second measures it when it is first asked for. Its result is
    kept in the user's data folder until the machine starts again, or its CPU, its cores,
    Python, numpy or the benchmark change: so all runs of a day are of one scale. A process
    that has measured it keeps that in every such folder that has none.

    Raises:
        CatalogError: The benchmark failed.
    """
    return _speed_for(os.environ.get(HOME_VARIABLE))


@cache
def _speed_for(_: str | None) -> OwnCpuSpeed:
    found = known_cpu_speed()
    if found is None:
        found = _benchmarked()
        _keep(found.rate)
    return found


@cache
def _benchmarked() -> OwnCpuSpeed:
    try:
        return measured_cpu_speed(_SECONDS)
    except BenchmarkError as error:
        raise CatalogError(
            f"{error} Without it no instance type can be emulated here; launch with "
            "--no-emulation (emulation=None)."
        ) from error


def measured_cpu_speed(seconds: float) -> OwnCpuSpeed:
    """Return the speed of one vCPU of this machine by a benchmark, and keep nothing.

    Args:
        seconds: How long the benchmark runs.

    Raises:
        BenchmarkError: It gave no figure.
    """
    return _speed(cpu_rate(num_cores=max(1, int(available_cores())), seconds=seconds))


def known_cpu_speed() -> OwnCpuSpeed | None:
    """Return the speed that is kept for this machine; None: it has not been measured yet."""
    try:
        kept = json.loads(_file().read_text(encoding="utf-8"))
        rate = float(kept["rate"]) if kept["of"] == _conditions() else 0.0
    except (OSError, ValueError, TypeError, KeyError, RuntimeError):
        return None
    return _speed(rate) if rate > 0 else None


def _speed(rate: float) -> OwnCpuSpeed:
    of_reference = relative_cpu_speed(REFERENCE_TYPE, {}).value
    return OwnCpuSpeed(value=rate / REFERENCE_RATE * of_reference, rate=rate)


def _conditions() -> Mapping[str, object]:
    """Return all that a kept rate holds for."""
    return {
        "boot": _BOOT_ID.read_text(encoding="ascii").strip(),
        "cpu": cpu_model(),
        "cores": available_cores(),
        "python": platform.python_version(),
        "numpy": version("numpy"),
        "benchmark": BENCHMARK_VERSION,
    }


def _file() -> Path:
    return home() / "cpu_speed.json"


def _keep(rate: float) -> None:
    """Keep a rate, whole or not at all; where that is impossible it is measured again."""
    with contextlib.suppress(OSError, RuntimeError):
        path = _file()
        part = path.with_name(f".{path.name}.{threading.get_native_id()}.part")
        path.parent.mkdir(parents=True, exist_ok=True)
        part.write_text(json.dumps({"rate": rate, "of": _conditions()}), encoding="utf-8")
        part.replace(path)
