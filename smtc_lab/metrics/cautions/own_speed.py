"""Cautions of what goes at the speed of this machine in an emulation, whatever it emulates."""

from __future__ import annotations

from typing import TYPE_CHECKING

from smtc_lab.metrics.cautions.between_steps import BETWEEN_STEPS, between_steps
from smtc_lab.metrics.cautions.long_passes import LONG_PASSES, long_passes

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from smtc_lab.metrics.finding import Finding

AT_OWN_SPEED: Mapping[str, Callable[..., Finding | None]] = {
    LONG_PASSES: long_passes,
    BETWEEN_STEPS: between_steps,
}
"""What finds each kind: passes, and what a script does between its steps. All take the same."""
