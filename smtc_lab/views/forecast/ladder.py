"""What a form is told of compiler settings that were measured. Goes to the browser as JSON.

``smtc_lab.views.wire_schema`` tells TypeScript of it; both read
``tests/fixtures/compiler_ladders.json``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from smtc_lab.metrics.result import Interval  # noqa: TC001  pydantic reads it
from smtc_lab.views.text.json_values import json_values

COMPILER_LADDERS_VERSION: Literal[1] = 1
"""Version of ``CompilerLadders``; another one means another front end."""


@dataclass(frozen=True, kw_only=True)
class MeasuredIn:
    """The comparison that something was measured in."""

    name: str
    """Name of the comparison."""

    created: str
    """When it was made, as ISO date and time with time zone."""

    instances: str
    """Its instances, in words: their numbers and types."""

    is_script_changed: bool
    """Whether the script's file was changed since."""


@dataclass(frozen=True, kw_only=True)
class LadderRung:
    """What one setting of the compiler brought by itself, in the newest comparison of it."""

    setting: str
    """Name of the setting: ``backend``, ``precision``, …"""

    before: str
    """Its value in the set-up that it is told against."""

    after: str
    """Its value in the set-up that has it."""

    saved_fraction: Interval
    """Share of the step time that ``after`` saves; negative: its steps take longer."""

    is_seen: bool
    """Whether the interval tells that there is a difference."""

    added_s: Interval
    """Seconds that the first steps took longer with ``after``, compiling included."""

    measured: MeasuredIn
    """Where that is from."""


@dataclass(frozen=True, kw_only=True)
class MeasuredPay:
    """When settings have earned back what their first steps take."""

    baseline: str
    """What they were measured against."""

    steps: Interval | None
    """Steps after which both have taken the same time; None: never, by what was seen."""

    after_s: Interval | None
    """Seconds of training until then, start-up left out; None: as above."""

    is_slower: bool
    """Whether the steps are certainly slower than those of the baseline."""

    measured: MeasuredIn
    """Where that is from."""


@dataclass(frozen=True, kw_only=True)
class SetUpLadder:
    """What was measured of the compiler settings for the script of one set-up."""

    problem: str = ""
    """Why nothing can be looked up, and what to do; empty: it was."""

    rungs: tuple[LadderRung, ...] = ()
    """By setting, in the order in which a comparison tells of them; empty: none was
    measured."""

    pays: MeasuredPay | None = None
    """Of the settings that the set-up has; None: they were not measured, or are plain."""


@dataclass(frozen=True, kw_only=True)
class CompilerLadders:
    """What a form is told of compiler settings that were measured."""

    version: Literal[1] = COMPILER_LADDERS_VERSION
    """Version of this description."""

    of: str = ""
    """The set-ups as JSON, as they were when it was made; empty: nobody asked yet."""

    problem: str = ""
    """Why no answer came, in words; empty: one did."""

    set_ups: tuple[SetUpLadder, ...] = ()
    """One for each set-up, in their order."""

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return json_values(self)
