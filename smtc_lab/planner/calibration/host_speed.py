"""Where the CPU of this machine stands beside those of the catalog."""

from __future__ import annotations

import math

from smtc_lab.catalog.own_cpu_speed import (
    REFERENCE_RATE,
    REFERENCE_TYPE,
    measured_cpu_speed,
)
from smtc_lab.errors import PlannerError
from smtc_lab.machine.cores import machine_facts
from smtc_lab.machine.cpu_benchmark import BenchmarkError
from smtc_lab.planner.calibration.parts import CpuSpeedFact

BENCHMARK_SECONDS = 10.0
"""How long the benchmark runs."""


def host_speed(
    *, seconds: float, user_value: float | None = None
) -> tuple[CpuSpeedFact, float | None]:
    """Return the speed of one vCPU of this machine, and the rate that the benchmark measured.

    The rate beside ``REFERENCE_RATE`` is measured; what the reference machine is beside
    ml.p3.2xlarge is the catalog's estimate, so the speed is one too.

    Args:
        seconds: How long the benchmark runs.
        user_value: What the user says instead, above 0; then nothing is run.

    Raises:
        PlannerError: The user's value is no speed, or the benchmark failed.
    """
    cpu = str(machine_facts()["cpu"])
    if user_value is not None:
        if not (math.isfinite(user_value) and user_value > 0):
            raise PlannerError(
                f"relative_cpu_speed={user_value} must be a finite number above 0. Give the "
                "speed of one of this machine's vCPUs with 1.0 for ml.p3.2xlarge."
            )
        return CpuSpeedFact(value=user_value, kind="user", of=cpu), None
    try:
        speed = measured_cpu_speed(seconds)
    except BenchmarkError as error:
        raise PlannerError(
            f"{error} Give relative_cpu_speed, the speed of one of this machine's vCPUs with "
            "1.0 for ml.p3.2xlarge."
        ) from error
    ratio = speed.rate / REFERENCE_RATE
    fact = CpuSpeedFact(
        value=speed.value,
        kind="estimated",
        of=f"{cpu}: {ratio:.2f} times the reference machine (measured), which the table of CPU "
        f"generations puts at {speed.value / ratio:.2f} (estimated, as {REFERENCE_TYPE})",
    )
    return fact, speed.rate
