"""What goes at the speed of this machine, and not at that of what it emulates."""

from __future__ import annotations

from typing import TYPE_CHECKING

from smtc_lab.metrics.cautions.own_speed import AT_OWN_SPEED
from smtc_lab.rules.rule import Rule

if TYPE_CHECKING:
    from collections.abc import Iterable

    from smtc_lab.metrics.finding import Finding
    from smtc_lab.rules.observation import Observation


class OwnSpeedRule(Rule):
    """Finds passes that outlast the declared device, and long work between the steps.

    A comparison says so of its set-ups itself.
    """

    def findings(self, seen: Observation) -> Iterable[Finding]:
        """Yield at most one finding of each."""
        if seen.compiler is not None:
            return
        for kind, of_one in AT_OWN_SPEED.items():
            if not seen.is_enough_for(kind):
                continue
            found = of_one(seen.job, [seen.measured], ease=seen.ease(kind))
            if found is not None:
                yield found
