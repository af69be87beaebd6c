"""How busy devices, CPUs and trainers were, as fractions (0-1)."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from smtc_lab.metrics.records import StepRecord, SystemSample


def device_utilization(steps: Sequence[StepRecord]) -> float | None:
    """Return the share of the step time in which the device computed.

    Args:
        steps: Measured steps, of any number of ranks.

    Returns:
        Device time over step time, both summed over the steps. None when there is no step, or
        the device time of one is not known.
    """
    device_s = [record.device_time_s for record in steps]
    known_s = [time_s for time_s in device_s if time_s is not None]
    total_s = sum(record.step_time_s for record in steps)
    if len(known_s) < len(device_s) or total_s <= 0:
        return None
    return sum(known_s) / total_s


def data_wait_fraction(steps: Sequence[StepRecord]) -> float:
    """Return the share of the step time in which trainers waited for the next batch.

    Args:
        steps: Measured steps, of any number of ranks. Long steps weigh more than short ones.

    Raises:
        ValueError: There is no step, or the steps took no time.
    """
    total_s = sum(record.step_time_s for record in steps)
    if not steps or total_s <= 0:
        raise ValueError(
            f"No step records (got {len(steps)}, {total_s} s in all) to take a data wait of. "
            "Wait for the run's first step."
        )
    return sum(record.data_wait_s for record in steps) / total_s


def samples_between(
    samples: Iterable[SystemSample], *, begin_s: float, end_s: float
) -> list[SystemSample]:
    """Return the parts of system samples that lie in a window of time.

    A sample that reaches over an edge is cut there; its CPU time is taken to be spread evenly
    over its interval.

    Args:
        samples: Samples of one instance.
        begin_s: Begin of the window, in seconds since the epoch.
        end_s: End of the window, in seconds since the epoch.
    """
    inside = []
    for sample in samples:
        sample_begin_s = max(begin_s, sample.time_s - sample.interval_s)
        length_s = min(end_s, sample.time_s) - sample_begin_s
        if length_s <= 0:
            continue
        share = length_s / sample.interval_s
        inside.append(
            dataclasses.replace(
                sample,
                time_s=sample_begin_s + length_s,
                interval_s=length_s,
                cpu_used_s=sample.cpu_used_s * share,
                cpu_asked_s=sample.cpu_asked_s * share,
            )
        )
    return inside


def cpu_utilization(
    samples: Sequence[SystemSample], *, num_cores: float | None = None
) -> float | None:
    """Return the CPU time that instances used over the CPU time they had.

    Args:
        samples: Samples of all instances of a group, cut to the measured window.
        num_cores: Cores of the machine, which an instance without a quota has for itself.
            None: unknown.

    Returns:
        Used core-seconds over quota times time. Where samples have a quota, those without one
        are from before it was applied and are left out; where none has, the cores of the
        machine stand in for it. None when there is no sample, or neither is known. At most 1:
        a quota is given out in periods, and a window that ends within one can hold up to one
        period more than its time allows.
    """
    quotas = [
        (sample, sample.cpu_quota_cores)
        for sample in samples
        if sample.cpu_quota_cores is not None
    ]
    if not quotas and num_cores is not None:
        quotas = [(sample, num_cores) for sample in samples]
    available_s = sum(sample.interval_s * cores for sample, cores in quotas)
    if available_s <= 0:
        return None
    return min(1.0, sum(sample.cpu_used_s for sample, _ in quotas) / available_s)


def cpu_delivered_fraction(samples: Sequence[SystemSample]) -> float | None:
    """Return the CPU time that instances got over the CPU time they asked for.

    Args:
        samples: Samples of all instances of a group, cut to the measured window. Only those
            with a quota count.

    Returns:
        Near 1: the quota was really delivered. Lower: the machine was busy with other things.
        None: no sample has a quota, or nothing was asked for.
    """
    limited = [sample for sample in samples if sample.cpu_quota_cores is not None]
    asked_s = sum(sample.cpu_asked_s for sample in limited)
    if asked_s <= 0:
        return None
    return sum(sample.cpu_used_s for sample in limited) / asked_s
