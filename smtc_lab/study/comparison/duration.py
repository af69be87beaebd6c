"""How long an emulated comparison takes on this machine, as far as that is known before it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from smtc_lab.errors import SmtcLabError
from smtc_lab.launchers.dilation import at_one_dilation
from smtc_lab.metrics.records.cluster_time import dilation_of_job

if TYPE_CHECKING:
    from collections.abc import Sequence

    from smtc_lab.launchers.launcher import Launcher
    from smtc_lab.spec.job import TrainingJob

LONG_S = 600.0
"""From here on it is told what would make it shorter."""

_LAUNCH_S = 1.5
"""Start-up and end of a launch, at least: torch is imported, and processes end."""


def least_time_here(jobs: Sequence[TrainingJob], launcher: Launcher, *, rounds: int) -> str:
    """Return how long launches take here at least; empty: nothing tells.

    Their declared devices alone take so long; waiting for data comes on top of it.

    Args:
        jobs: What is launched, each so many times.
        launcher: What launches them.
        rounds: Launches of each job.
    """
    try:
        made = at_one_dilation(jobs, launcher.common_dilation)
    except SmtcLabError:  # whoever launches them says so
        return ""
    steps = [job.max_steps for job in made if job.max_steps is not None]
    steps_s = [each for job in made if (each := _device_s(job)) is not None]
    if min(len(steps), len(steps_s)) < len(made):
        return ""
    launches, dilation = len(made) * rounds, dilation_of_job(made[0])
    seconds = launches * _LAUNCH_S + rounds * sum(
        count * step_s for count, step_s in zip(steps, steps_s, strict=True)
    )
    told = (
        f"This takes at least {_time(seconds)} here: {launches} launches of {max(steps)} "
        f"steps, each of which takes at least {min(steps_s):.3g} s (time dilation "
        f"{dilation:.3g})."
    )
    if seconds <= LONG_S:
        return told
    fitting = max(1, int((LONG_S - launches * _LAUNCH_S) / (rounds * sum(steps_s))))
    return (
        f"{told} With {fitting} steps (max_steps, --steps) it would be 10 min; smaller "
        "instance types make it shorter, too, and a plan (smtc-lab plan) needs no such launch."
    )


def _device_s(job: TrainingJob) -> float | None:
    return None if job.emulation is None else job.emulation.dilated_device_s


def _time(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"
