"""What every result is made of: frozen parts, and means with their intervals."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict

Evidence = Literal["measured", "emulated"]
"""``measured``: on the hardware that is named. ``emulated``: a scale model of it."""

IntervalEvidence = Literal["measured", "emulated", "predicted", "estimated", "unknown"]
"""Where a mean comes from: as ``Evidence``; ``predicted``: of what was not run; ``estimated``:
from figures that are estimates; ``unknown``: an older version wrote it, which did not say."""


class Result(BaseModel):
    """A frozen part of a result; unknown fields of a later version are dropped on reading."""

    model_config = ConfigDict(frozen=True, use_attribute_docstrings=True, extra="ignore")


class Interval(Result):
    """A mean, and the two ends between which the truth lies in ``level`` of all cases."""

    mean: float
    """The mean, never the median."""

    low: float
    """Lower end of the interval."""

    high: float
    """Upper end of the interval."""

    level: float = 0.95
    """Share of such intervals that hold the truth, 0 to 1."""

    evidence: IntervalEvidence = "unknown"
    """Where it comes from."""

    @property
    def value(self) -> float:
        """The mean, as plans and calibrations call it."""
        return self.mean

    def scaled(self, factor: float) -> Interval:
        """Return the interval of ``factor`` times the value; ``factor`` is not negative."""
        return self.at(self.mean * factor, self.low * factor, self.high * factor)

    def at(self, mean: float, low: float, high: float) -> Interval:
        """Return other numbers of the same level and evidence."""
        return Interval(mean=mean, low=low, high=high, level=self.level, evidence=self.evidence)

    def of(self, evidence: IntervalEvidence) -> Interval:
        """Return the same numbers with their evidence."""
        return self.model_copy(update={"evidence": evidence})
