"""What could be better, or must be known: one type for runs, comparisons and plans."""

from __future__ import annotations

from typing import Literal

from smtc_lab.metrics.records.compiler_report import Place
from smtc_lab.metrics.result import Interval, Result

Severity = Literal["warning", "note"]
"""``warning``: it costs time, or trust. ``note``: it costs nothing here, or would elsewhere."""

CostEvidence = Literal[
    "measured", "emulated", "predicted", "extrapolated", "estimated", "at most"
]
"""How a cost is known. ``emulated``: in cluster time. ``at most``: it cannot be more."""


class Cost(Result):
    """What a finding costs."""

    fraction: float | None = None
    """Share of the time of all steps, 0 to 1; None: not known."""

    s_per_step: Interval | None = None
    """The same in seconds of a step; None: its ends are not known."""

    usd_per_1000_steps: Interval | None = None
    """The same in USD; None: its ends, or a price, are not known."""

    evidence: CostEvidence = "measured"
    """How it is known."""


class Finding(Result):
    """Something that could be better, or that a reader must know."""

    kind: str
    """Name of what was found: ``recompilation``, ``host_sync``, …"""

    severity: Severity = "warning"
    """Whether it costs something here."""

    sentence: str
    """What was found, without the place and the cost, with a full stop."""

    fix: str = ""
    """What to do about it, one sentence; empty: nothing."""

    action: str = ""
    """Line of Python, or of a shell, that begins to do it; empty: none is offered."""

    rank: str | None = None
    """Trainer that told it; None: there is only one, or it is of all."""

    step: int | None = None
    """Step in which it happened first, from 0; None: in none of its own, or not known."""

    place: Place | None = None
    """Line that is to blame; None: none, or not known."""

    cost: Cost | None = None
    """What it costs; None: it is no matter of time or money."""

    @property
    def text(self) -> str:
        """What was found, and what to do."""
        return f"{self.sentence} {self.fix}".rstrip()


def caution(kind: str, sentence: str, fix: str = "") -> Finding:
    """Return what a reader must know before trusting numbers."""
    return Finding(kind=kind, sentence=sentence, fix=fix)
