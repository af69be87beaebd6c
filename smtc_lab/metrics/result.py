"""What every result is made of: frozen parts, and means with their intervals."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Result(BaseModel):
    """A frozen part of a result; unknown fields of a later version are dropped on reading."""

    model_config = ConfigDict(frozen=True, use_attribute_docstrings=True, extra="ignore")


class Interval(Result):
    """A mean with its 95 % bootstrap interval."""

    mean: float
    """The mean, never the median."""

    low: float
    """Lower end of the 95 % interval."""

    high: float
    """Upper end of the 95 % interval."""

    def scaled(self, factor: float) -> Interval:
        """Return the interval of ``factor`` times the value; ``factor`` is not negative."""
        return Interval(mean=self.mean * factor, low=self.low * factor, high=self.high * factor)
