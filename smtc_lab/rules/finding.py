"""What a rule returns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from smtc_lab.metrics.compiler_report import Place

Severity = Literal["warning", "note"]
"""``warning``: it costs time here. ``note``: it costs nothing here, or would elsewhere."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Finding:
    """Something that could be better."""

    kind: str
    """Name of what was found: ``recompilation``, ``host_sync``, …"""

    severity: Severity
    """Whether it costs time here."""

    sentence: str
    """What was found, without the place and the cost, with a full stop."""

    fix: str
    """What to do about it, one sentence."""

    place: Place | None = None
    """Line that is to blame; None: none, or not known."""

    cost_s_per_step: float | None = None
    """Seconds that it costs in the mean step; None: not known, or told as a fraction."""

    cost_fraction: float | None = None
    """Share of the time of all steps that it costs, 0 to 1; None: not known, or told in
    seconds."""

    cost_is: Literal["measured", "emulated", "estimated", "at most"] = "measured"
    """How the cost is known. ``emulated``: measured of a scale model. ``at most``: it cannot
    cost more."""
