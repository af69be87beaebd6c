"""What calibrating would take, before it is begun."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from smtc_lab.planner.calibration.calibrate import DEFAULT_SECONDS
from smtc_lab.planner.calibration.host_speed import BENCHMARK_SECONDS
from smtc_lab.planner.calibration.plan import num_launches

if TYPE_CHECKING:
    from collections.abc import Sequence

    from smtc_lab.spec.job import TrainingJob

AROUND_LAUNCH_S = 5.0
"""Start-up and end of one launch in seconds, beside what it measures. Assumed, as launches of
the demo took on two cores: torch is imported, and processes end."""


@dataclass(frozen=True, kw_only=True)
class CalibrationEffort:
    """What calibrating would take."""

    workloads: int
    """Scripts with their hyperparameters that have no calibration yet, at least 1."""

    launches: int
    """Launches of all of them together."""

    about_s: float
    """Seconds that it takes about. Assumed; what a script does before its first step comes on
    top of it."""

    sentence: str
    """What it runs."""


def effort_of(jobs: Sequence[TrainingJob], *, cores: float) -> CalibrationEffort | None:
    """Return what calibrating would take; None: there is nothing to calibrate.

    Args:
        jobs: One for each workload without a calibration.
        cores: Cores of this machine.
    """
    if not jobs:
        return None
    launches = sum(launches_of(job, cores=cores) for job in jobs)
    about_s = launches * (DEFAULT_SECONDS + AROUND_LAUNCH_S) + len(jobs) * BENCHMARK_SECONDS
    scripts = " and ".join(dict.fromkeys(Path(job.entry_point).name for job in jobs))
    return CalibrationEffort(
        workloads=len(jobs),
        launches=launches,
        about_s=about_s,
        sentence=(
            f"It launches {scripts} {launches} times on this machine, for "
            f"{DEFAULT_SECONDS:g} s of steps each: with resident data, its dataloader alone, "
            "and whole, at several numbers of data workers. Let nothing else run meanwhile."
        ),
    )


def launches_of(job: TrainingJob, *, cores: float) -> int:
    """Return how many launches the calibration of one job has."""
    emulation = job.emulation
    is_emulated = emulation is not None and emulation.device_step_time_s is not None
    return num_launches(max(1, int(cores)), is_emulated=is_emulated)
