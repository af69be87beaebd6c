"""How long an emulated comparison takes on this machine, as far as that is known before it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from smtc_lab.errors import SmtcLabError
from smtc_lab.launchers.dilation import at_one_dilation, common_dilation
from smtc_lab.machine.cores import available_cores
from smtc_lab.metrics.records.cluster_time import dilation_of_job
from smtc_lab.metrics.result import evidence_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from smtc_lab.catalog.catalog import Catalog
    from smtc_lab.spec.job import TrainingJob

LONG_S = 600.0
"""From here on it is told what would make it shorter."""

FIT_S = 180.0
"""So long are the rounds of an emulated comparison that names no number of steps, about."""

FEWEST_STEPS = 10
"""Steps of a launch at least, also where fewer would fit."""

SHORTER = (
    "smaller instance types make it shorter, too, and a plan (smtc-lab plan) needs no launch."
)
"""What else makes a comparison short, as the end of a sentence."""

_LAUNCH_S = 1.5
"""Start-up and end of a launch, at least: torch is imported, and processes end."""


def least_time_here(
    jobs: Sequence[TrainingJob],
    chosen: Callable[[list[TrainingJob]], float | None],
    *,
    rounds: int,
) -> str:
    """Return how long launches take here at least; empty: nothing tells.

    Their declared devices alone take so long; waiting for data comes on top of it. Where no
    number of steps is asked for, it is said how one is chosen.

    Args:
        jobs: What is launched, each so many times.
        chosen: Chooses the time dilation where none is named, as ``at_one_dilation`` takes it.
        rounds: Launches of each job.
    """
    if len({job.cluster.label for job in jobs}) < len(jobs):
        return ""  # whoever launches them says that they cannot be told apart
    try:
        made = at_one_dilation(jobs, chosen)
    except SmtcLabError:  # as above
        return ""
    if asks_for_no_steps(made):
        return (
            f"A launch of {FEWEST_STEPS} steps first finds out how many fit into "
            f"{time_words(FIT_S)} here. To choose their number give max_steps (--steps)."
        )
    steps = [job.max_steps for job in made if job.max_steps is not None]
    steps_s = [each for job in made if (each := device_s_here(job)) is not None]
    if min(len(steps), len(steps_s)) < len(made):
        return ""
    launches, dilation = len(made) * rounds, dilation_of_job(made[0])
    seconds = launches * _LAUNCH_S + rounds * sum(
        count * step_s for count, step_s in zip(steps, steps_s, strict=True)
    )
    told = (
        f"This takes at least {time_words(seconds)} here: {launches} launch"
        f"{'' if launches == 1 else 'es'} of {max(steps)} steps, each of which takes at least "
        f"{min(steps_s):.3g} s (time dilation {dilation:.3g})."
    )
    if seconds <= LONG_S:
        return told
    fitting = max(1, int((LONG_S - launches * _LAUNCH_S) / (rounds * sum(steps_s))))
    return f"{told} With {fitting} steps (max_steps, --steps) it would be 10 min; {SHORTER}"


def least_time_on_this_machine(
    jobs: Sequence[TrainingJob], catalog: Catalog, *, rounds: int
) -> str:
    """Return how long launches on this machine take at least; empty: nothing tells.

    Args:
        jobs: As for ``least_time_here``.
        catalog: Where the instance types are looked up.
        rounds: Launches of each job.
    """
    chosen = partial(common_dilation, catalog=catalog, cores=available_cores())
    return least_time_here(jobs, chosen, rounds=rounds)


def asks_for_no_steps(jobs: Sequence[TrainingJob]) -> bool:
    """Return whether jobs are emulated, and one of them names no number of steps."""
    return evidence_of(*jobs) == "emulated" and any(job.max_steps is None for job in jobs)


def device_s_here(job: TrainingJob) -> float | None:
    """Return what the declared device takes for a step on this machine; None: there is none."""
    return None if job.emulation is None else job.emulation.dilated_device_s


def time_words(seconds: float) -> str:
    """Return a time in seconds, or in minutes from 100 s on."""
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"
