"""Work between the steps of an emulation, which nothing slows down."""

from __future__ import annotations

from typing import TYPE_CHECKING

from smtc_lab.metrics.cautions.between_steps import BETWEEN_STEPS, between_steps
from smtc_lab.rules.rule import Rule

if TYPE_CHECKING:
    from collections.abc import Iterable

    from smtc_lab.metrics.finding import Finding
    from smtc_lab.rules.observation import Observation


class BetweenStepsRule(Rule):
    """Finds that a script spends long between its steps, by the clock of this machine.

    A comparison says so of its set-ups itself.
    """

    def findings(self, seen: Observation) -> Iterable[Finding]:
        """Yield one finding, or none."""
        if seen.compiler is not None or not seen.is_enough_for(BETWEEN_STEPS):
            return
        found = between_steps(seen.job, [seen.measured], ease=seen.ease(BETWEEN_STEPS))
        if found is not None:
            yield found
