"""What a launcher wrote down about how a run was run, read with care."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from smtc_lab.metrics.records.records import RunRecords
    from smtc_lab.spec.job import TrainingJob

NO_QUOTA = "none"
"""The quota mechanism of a run whose instances had no CPU quota."""

FITTED_STEPS = "fitted_steps"
"""Fact of a run: its steps at most, which nobody asked for: so many fit into a comparison."""


def as_asked(job: TrainingJob, facts: object) -> TrainingJob:
    """Return a job without a number of steps that nobody asked for.

    Args:
        job: What was run.
        facts: What its launcher wrote down.
    """
    is_fitted = number_of(facts, FITTED_STEPS) is not None
    return job.model_copy(update={"max_steps": None}) if is_fitted else job


def number_fact(run: RunRecords, name: str) -> float | None:
    """Return a fact that is a number, or None: not known.

    Args:
        run: The run.
        name: Such as ``num_cores``, ``cores_per_vcpu`` or ``device_step_time_s``.
    """
    return number_of(run.facts, name)


def cpu_quota_cores(run: RunRecords, host: str) -> float | None:
    """Return the CPU quota of a host in cores, or None: no quota."""
    return number_of(run.facts.get("cpu_quota_cores"), host)


def cpu_quota_mechanism(run: RunRecords) -> str:
    """Return how the CPU quotas of a run were kept, for example ``cgroup-v2``."""
    mechanism = run.facts.get("cpu_quota_mechanism")
    return mechanism if isinstance(mechanism, str) and mechanism else NO_QUOTA


def number_of(values: object, name: str) -> float | None:
    """Return a number out of what should be a mapping; None: it has no such number."""
    value = values.get(name) if isinstance(values, dict) else None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:  # a whole number of hundreds of digits
        return None
    return number if math.isfinite(number) else None
