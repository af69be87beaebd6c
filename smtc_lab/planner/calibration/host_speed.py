"""Where the CPU of this machine stands beside those of the catalog."""

from __future__ import annotations

import math

from smtc_lab.catalog.cpu_speed import relative_cpu_speed
from smtc_lab.errors import PlannerError
from smtc_lab.machine.cores import available_cores, machine_facts
from smtc_lab.planner.calibration.calibration import CpuSpeedFact
from smtc_lab.planner.calibration.cpu_benchmark import cpu_rate

BENCHMARK_SECONDS = 10.0
"""How long the benchmark runs."""

REFERENCE_RATE = 1130.0
"""Rate of ``cpu_benchmark`` of one vCPU of the reference machine, both of its vCPUs busy.

Measured on 2026-11-22 on a virtual machine with two vCPUs of an Intel Xeon with AMX at 2.6 GHz
(Sapphire Rapids or later), Python 3.11, numpy 2.4 with OpenBLAS.
"""

REFERENCE_TYPE = "ml.c7i.large"
"""The instance type whose speed the table's estimate gives to the reference machine."""


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
    rate = cpu_rate(num_cores=max(1, int(available_cores())), seconds=seconds)
    of_reference = relative_cpu_speed(REFERENCE_TYPE, {}).value
    ratio = rate / REFERENCE_RATE
    fact = CpuSpeedFact(
        value=ratio * of_reference,
        kind="estimated",
        of=f"{cpu}: {ratio:.2f} times the reference machine (measured), which the table of CPU "
        f"generations puts at {of_reference:.2f} (estimated, as {REFERENCE_TYPE})",
    )
    return fact, rate
