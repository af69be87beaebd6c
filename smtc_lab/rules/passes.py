"""Passes that take this machine longer than the accelerator that it stands in for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from smtc_lab.metrics.cautions.long_passes import LONG_PASSES, long_passes
from smtc_lab.rules.rule import Rule

if TYPE_CHECKING:
    from collections.abc import Iterable

    from smtc_lab.metrics.finding import Finding
    from smtc_lab.rules.observation import Observation


class PassesRule(Rule):
    """Finds that forward and backward passes, computed here, outlast the declared device.

    A comparison says so of its set-ups itself.
    """

    def findings(self, seen: Observation) -> Iterable[Finding]:
        """Yield one finding, or none."""
        if seen.compiler is not None or not seen.is_enough_for(LONG_PASSES):
            return
        found = long_passes(seen.job, [seen.measured], ease=seen.ease(LONG_PASSES))
        if found is not None:
            yield found
