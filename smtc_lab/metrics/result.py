"""What every result is made of: frozen parts, and means with their intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import BaseModel, ConfigDict

from smtc_lab.spec.cluster import LOCAL

if TYPE_CHECKING:
    from smtc_lab.spec.job import TrainingJob

Evidence = Literal["measured", "emulated"]
"""``measured``: on the hardware that is named. ``emulated``: stood in for, in cluster
time."""

IntervalEvidence = Literal["measured", "emulated", "predicted", "estimated", "unknown"]
"""Where a mean comes from: as ``Evidence``; ``predicted``: of what was not run; ``estimated``:
from figures that are estimates; ``unknown``: an older version wrote it, which did not say."""

Spread = Literal["launches", "steps", "none", "unknown"]
"""What an interval is over. ``launches``: how far launches of one job lie apart. ``steps``: one
launch alone. ``none``: a single value, whose ends are the value. ``unknown``: a prediction, or
an older version wrote it, which did not say."""

_WIDEST = 4.0

NO_CLAIM: frozenset[Spread] = frozenset({"steps", "none"})
"""Spreads that tell nothing of the next launch, so that nothing is claimed from them."""


def evidence_of(*jobs: TrainingJob) -> Evidence:
    """Return what numbers of some jobs are: emulated, if one of them is.

    A job is where its emulation stands in for an instance, a device or a network. This machine
    as it is stands in for nothing.
    """
    return "emulated" if any(map(_is_emulated, jobs)) else "measured"


def _is_emulated(job: TrainingJob) -> bool:
    emulation = job.emulation
    if emulation is None:
        return False
    is_declared = emulation.device_step_time_s is not None or emulation.link is not None
    groups = job.cluster.instance_groups
    return is_declared or any(group.instance_type != LOCAL for group in groups)


def is_wide(low: float, high: float) -> bool:
    """Return whether an interval is too wide for its mean to tell anything: over fourfold.

    The views' ``isWide`` is the same; both read ``tests/fixtures/wide_intervals.json``.
    """
    return low < high and not (low > 0 and high <= _WIDEST * low)


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

    spread: Spread = "unknown"
    """What it is over."""

    candidates: int = 1
    """Set-ups, compared with one baseline, that ``level`` is over."""

    looks: int = 1
    """Moments of a running comparison that ``level`` is over."""

    @property
    def value(self) -> float:
        """The mean, as plans and calibrations call it."""
        return self.mean

    def scaled(self, factor: float) -> Interval:
        """Return the interval of ``factor`` times the value; ``factor`` is not negative."""
        return self.at(self.mean * factor, self.low * factor, self.high * factor)

    def inverse(self) -> Interval:
        """Return the interval of 1 over the value, whose numbers are above 0."""
        return self.at(1 / self.mean, 1 / self.high, 1 / self.low)

    def negative(self) -> Interval:
        """Return the interval of the value with the other sign."""
        return self.at(-self.mean, -self.high, -self.low)

    def at(self, mean: float, low: float, high: float) -> Interval:
        """Return other numbers of the same level, evidence and spread."""
        return self.model_copy(update={"mean": mean, "low": low, "high": high})

    def side_of(self, value: float) -> Literal[-1, 0, 1]:
        """Return whether the truth lies above (1) or below (-1) a value; 0: it is not told.

        One launch tells nothing of the next one, so its interval lies on no side.
        """
        if self.spread in NO_CLAIM or self.low <= value <= self.high:
            return 0
        return 1 if self.low > value else -1

    def of(self, evidence: IntervalEvidence) -> Interval:
        """Return the same numbers with their evidence."""
        return self.model_copy(update={"evidence": evidence})
