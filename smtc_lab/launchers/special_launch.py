"""Launches that are made to find something out, beside the run that a job asks for."""

from __future__ import annotations

import math
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any, Literal

from smtc_lab.instance.description import Measure
from smtc_lab.metrics.records.facts import FITTED_STEPS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from smtc_lab.launchers.launcher import LaunchPlan

PARITY_STEPS = "parity_steps"
"""Fact of a plan: steps of a parity launch."""

PERMUTES = "permutes_samples"
"""Fact of a plan: whether a parity launch permutes the samples of each batch."""

MEMORY_LIMIT_BYTES = "memory_limit_bytes"
"""Fact of a plan: memory that a trainer process may take."""

MEASURE = "measure"
"""Fact of a plan: what a launch of a calibration measures, the fields of a ``Measure``."""

FINGERPRINTS = "fingerprints"
"""Fact of a plan: whether each step's fingerprints are recorded."""


def as_parity_launch(plan: LaunchPlan, *, steps: int, permutes: bool = False) -> LaunchPlan:
    """Return the plan of a launch that writes a parity trace: dropout off, few steps.

    Args:
        plan: What is launched.
        steps: Its steps.
        permutes: Whether the samples of each batch are permuted.
    """
    job = plan.job.model_copy(update={"max_steps": steps})
    facts = {**plan.facts, PARITY_STEPS: steps, PERMUTES: permutes}
    return replace(plan, job=job, facts=facts)


def with_fitted_steps(plan: LaunchPlan, steps: int) -> LaunchPlan:
    """Return the plan of a launch that makes at most so many steps, which nobody asked for."""
    job = plan.job.model_copy(update={"max_steps": steps})
    return replace(plan, job=job, facts={**plan.facts, FITTED_STEPS: steps})


def in_own_folder(plan: LaunchPlan) -> LaunchPlan:
    """Return the plan of a launch of a study: it works in a folder of its own, if not asked."""
    if plan.job.working_dir is not None:
        return plan
    return replace(plan, job=plan.job.model_copy(update={"working_dir": "own"}))


def with_fingerprints(plan: LaunchPlan) -> LaunchPlan:
    """Return the plan of a launch whose steps are hashed, for ``prove_resume``."""
    return replace(plan, facts={**plan.facts, FINGERPRINTS: True})


def with_memory_limit(plan: LaunchPlan, memory_limit_bytes: int | None) -> LaunchPlan:
    """Return the plan of a launch whose trainers may take this much memory; None: any."""
    return replace(plan, facts={**plan.facts, MEMORY_LIMIT_BYTES: memory_limit_bytes})


def as_measuring_launch(
    plan: LaunchPlan,
    *,
    what: Literal["resident", "loader", "run"],
    seconds: float,
    batch_size: int | None = None,
) -> LaunchPlan:
    """Return the plan of a launch of a calibration, which ends by itself.

    Args:
        plan: What is launched.
        what: ``resident``: the first batch of each dataloader again and again. ``loader``: the
            first dataloader that the script iterates over, and no step. ``run``: the script
            as it is.
        seconds: How long to measure after the first steps.
        batch_size: Samples of a batch; None: as the script says.
    """
    measure = Measure(what=what, seconds=seconds, batch_size=batch_size)
    return replace(plan, facts={**plan.facts, MEASURE: asdict(measure)})


def with_cpu_quotas(plan: LaunchPlan, cores: Mapping[str, float]) -> LaunchPlan:
    """Return the plan of a launch whose instances have these CPU quotas.

    Args:
        plan: What is launched.
        cores: Cores of this machine, by host; a host that is not named keeps what it has.
    """
    instances = tuple(
        replace(
            instance,
            cpu_quota_cores=cores[instance.host],
            num_cpus=max(1, math.ceil(cores[instance.host])),
        )
        if instance.host in cores
        else instance
        for instance in plan.instances
    )
    quotas = {instance.host: instance.cpu_quota_cores for instance in instances}
    facts = {**plan.facts, "cpu_quota_cores": quotas}
    return replace(plan, instances=instances, facts=facts)


def made_by(plan: dict[str, Any]) -> str:
    """Return what launched a run beside people and studies; empty: nothing did.

    Args:
        plan: Its launch plan as it was written.
    """
    facts = plan.get("facts")
    told = facts if isinstance(facts, dict) else {}
    return "calibration" if told.get(MEASURE) else "proof" if told.get(FINGERPRINTS) else ""
