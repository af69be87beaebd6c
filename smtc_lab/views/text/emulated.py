"""How something is emulated, and what its seconds are, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from smtc_lab.metrics.records.cluster_time import clock_words
from smtc_lab.metrics.result import evidence_of
from smtc_lab.spec.cluster import LOCAL
from smtc_lab.views.text import format as fmt

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from smtc_lab.spec.job import TrainingJob

_OF_CLOCK = {"cores_per_vcpu", "time_dilation"}


def emulation_words(clock: str, *devices_s: float | None, link: str = "") -> str:
    """Return how something is emulated.

    Args:
        clock: What its seconds are; empty: those of the clock.
        devices_s: Declared times of devices for a step in seconds; None: no such device.
        link: The declared network as its line; empty: none is.
    """
    parts = [clock] if clock else []
    if times := device_words(*devices_s):
        parts.append(f"declared device time {times} per step")
    if link:
        parts.append(f"declared network {link}")
    return ", ".join(parts) or "as fast as the cluster"


def declared_devices_s(emulation: Mapping[str, float | None]) -> tuple[float | None, ...]:
    """Return the declared times of devices of a comparison's ``emulation``, in seconds."""
    return tuple(map(emulation.get, ("device_step_time_s", "most_device_step_time_s")))


def device_words(*devices_s: float | None) -> str:
    """Return declared times of devices in words, the least and the most; empty: none is."""
    declared = sorted({time_s for time_s in devices_s if time_s is not None})
    ends = dict.fromkeys(declared[:1] + declared[-1:])
    return " to ".join(map(fmt.seconds, ends))


def of_jobs(jobs: Sequence[TrainingJob]) -> str:
    """Return how jobs are emulated that have not run yet; empty: they are not."""
    emulation = jobs[0].emulation
    if emulation is None or evidence_of(*jobs) == "measured":
        return ""
    is_open = emulation.time_dilation is None
    return of_run(*jobs, clock="time dilation chosen at launch" if is_open else None)


def of_run(job: TrainingJob, *others: TrainingJob, clock: str | None = None) -> str:
    """Return how a run was emulated; empty: it was not.

    Args:
        job: What was run.
        others: What was run beside it, perhaps with devices of other times.
        clock: What its seconds are; None: by the job's time dilation.
    """
    emulation = job.emulation
    if emulation is None or evidence_of(job) == "measured":
        return ""
    if clock is None:
        groups = job.cluster.instance_groups
        is_here = all(group.instance_type == LOCAL for group in groups)
        clock = "" if is_here else clock_words(emulation.model_dump(include=_OF_CLOCK))
    link = "" if emulation.link is None else str(emulation.link)
    emulations = (each.emulation for each in (job, *others))
    declared = (each.device_step_time_s for each in emulations if each is not None)
    return emulation_words(clock, *declared, link=link)
