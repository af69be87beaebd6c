"""What a script logs of its training: its losses, its accuracy, anything with a name."""

from __future__ import annotations

import math
from dataclasses import dataclass

MOST_NAMES = 1_000
"""Names that one process logs, at most; points of others are left out, and that is said."""

LONGEST_NAME = 250
"""Characters of a name, at most."""

MOST_VALUE = 1e15
"""Greatest value that is kept as a number; others are kept as text."""


@dataclass(frozen=True, kw_only=True, slots=True)
class MetricRecord:
    """One value of one metric, of one process."""

    step: int | None
    """Number of the step in its run, from 0, as of ``StepRecord``, or the step that the script
    gave, which may count anything; None: it was found in what was printed, and its time tells
    the step."""

    time_s: float
    """When it was logged, in seconds since the epoch."""

    name: str
    """What the script calls it."""

    value: float | None
    """The value; None: it is no number that is kept as one."""

    text: str = ""
    """That value, as ``float`` reads it: ``nan``, ``inf``, ``1e+20``; else empty."""

    @property
    def number(self) -> float:
        """The value, which may be infinite or NaN; NaN where a damaged file has none."""
        if self.value is not None:
            return self.value
        try:
            return float(self.text)
        except ValueError:
            return math.nan


def kept_value(value: float) -> tuple[float | None, str]:
    """Return ``value`` and ``text`` of the record of a value."""
    if math.isfinite(value) and abs(value) <= MOST_VALUE:
        return value, ""
    return None, repr(value)
