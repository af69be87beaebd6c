"""A script that made fewer steps than its job asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from smtc_lab.metrics.finding import caution

if TYPE_CHECKING:
    from smtc_lab.metrics.finding import Finding
    from smtc_lab.metrics.measured_columns import MeasuredColumns

ENDED_EARLY = "ended_early"
"""Kind of that finding."""


def steps_made(measured: MeasuredColumns) -> int:
    """Return the steps of a launch, warm-up included."""
    return len(measured.step_time_s) + measured.warm_up_steps


def ended_early(who: str, steps: int, asked: int) -> Finding:
    """Return that a script ended by itself before it had made all steps.

    Args:
        who: What ended, with its verb: ``a ended after``.
        steps: Steps that it made.
        asked: Steps of the job.
    """
    return caution(
        ENDED_EARLY,
        f"{who} {steps:,} of {asked:,} steps: the script had no more to do.",
        "Give it more data or epochs, or ask for fewer steps (max_steps, --steps).",
    )
