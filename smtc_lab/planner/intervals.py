"""Intervals of calibrations and predictions: of 80 %, and their mean is called ``value``."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator

from smtc_lab.metrics.interval_json import IntervalJson
from smtc_lab.metrics.result import Interval

LEVEL = 0.8
"""Level of every interval that a calibration or a prediction holds. Those of a prediction, of
start-up and of the end are of the next launch, not of the mean of many."""


def _is_ordered(given: Interval) -> Interval:
    if not 0 <= given.low <= given.mean <= given.high < float("inf"):
        raise ValueError(
            f"value={given.mean} is negative, not finite or outside its interval, "
            f"low={given.low} to high={given.high}. Calibrate again."
        )
    return given


Measured = Annotated[
    Interval,
    IntervalJson(level=LEVEL, evidence="measured", is_brief=True),
    AfterValidator(_is_ordered),
]
"""One measured number of a calibration, at least 0."""

Estimate = Annotated[Interval, IntervalJson(level=LEVEL, evidence="predicted")]
"""One predicted number."""


def measured(mean: float, low: float, high: float) -> Interval:
    """Return a number of a calibration."""
    return Interval(mean=mean, low=low, high=high, level=LEVEL, evidence="measured")


def estimate(mean: float, low: float, high: float) -> Interval:
    """Return a predicted number."""
    return Interval(mean=mean, low=low, high=high, level=LEVEL, evidence="predicted")
