"""Runs that completed before they had made all steps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from smtc_lab.metrics.cautions.ended_early import ended_early, steps_made
from smtc_lab.rules.rule import Rule

if TYPE_CHECKING:
    from collections.abc import Iterable

    from smtc_lab.metrics.finding import Finding
    from smtc_lab.rules.observation import Observation


class AllStepsRule(Rule):
    """Finds that a script made fewer steps than its job asked for.

    A comparison says so of its set-ups itself.
    """

    def findings(self, seen: Observation) -> Iterable[Finding]:
        """Yield one finding, or none."""
        steps, asked = steps_made(seen.measured), seen.job.max_steps
        is_over = seen.has_completed and seen.compiler is None
        if is_over and asked is not None and steps < asked:
            yield ended_early("The run ended after", steps, asked)
