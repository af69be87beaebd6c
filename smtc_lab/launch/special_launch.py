"""Launches that are made to find something out, beside the run that a job asks for."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from smtc_lab.launch.launcher import LaunchPlan

PARITY_STEPS = "parity_steps"
"""Fact of a plan: steps of a parity launch."""

MEMORY_LIMIT_BYTES = "memory_limit_bytes"
"""Fact of a plan: memory that a trainer process may take."""


def as_parity_launch(plan: LaunchPlan, *, steps: int) -> LaunchPlan:
    """Return the plan of a launch that writes a parity trace: dropout off, few steps."""
    job = plan.job.model_copy(update={"max_steps": steps})
    return replace(plan, job=job, facts={**plan.facts, PARITY_STEPS: steps})


def with_memory_limit(plan: LaunchPlan, memory_limit_bytes: int | None) -> LaunchPlan:
    """Return the plan of a launch whose trainers may take this much memory; None: any."""
    return replace(plan, facts={**plan.facts, MEMORY_LIMIT_BYTES: memory_limit_bytes})
