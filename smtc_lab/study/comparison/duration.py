"""How long an emulated comparison takes on this machine, as far as that is known before it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from smtc_lab.errors import SmtcLabError
from smtc_lab.launchers.dilation import at_one_dilation

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
    seconds, steps = len(made) * rounds * _LAUNCH_S, 0
    step_s = 0.0
    for job in made:
        emulation = job.emulation
        if emulation is None or emulation.dilated_device_s is None or job.max_steps is None:
            return ""
        steps = max(steps, job.max_steps)
        step_s += rounds * emulation.dilated_device_s
        seconds += rounds * job.max_steps * emulation.dilated_device_s
    first = made[0].emulation
    assert first is not None  # noqa: S101  looked at above
    told = (
        f"This takes at least {_time(seconds)} here: {len(made) * rounds} launches of {steps} "
        f"steps, each of which takes at least {first.dilated_device_s:.3g} s (time dilation "
        f"{first.dilation:.3g})."
    )
    if seconds <= LONG_S:
        return told
    fitting = max(1, int((LONG_S - len(made) * rounds * _LAUNCH_S) / step_s))
    return (
        f"{told} With {fitting} steps (max_steps, --steps) it would be 10 min; smaller "
        "instance types make it shorter, too, and a plan (smtc-lab plan) needs no such launch."
    )


def _time(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"
