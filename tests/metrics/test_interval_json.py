from __future__ import annotations

import json
from typing import Annotated

import pytest
from pydantic import TypeAdapter, ValidationError

from smtc_lab.metrics.compared.comparison import Comparison
from smtc_lab.metrics.interval_json import IntervalJson
from smtc_lab.metrics.result import Interval
from smtc_lab.planner.intervals import Estimate, Measured, measured
from smtc_lab.planner.model.prediction import Prediction
from tests.kit.comparisons import example_comparison

ESTIMATE = TypeAdapter(Estimate)
MEASURED = TypeAdapter(Measured)
OLDER = {"value": 2.0, "low": 1.0, "high": 3.0}


def test_an_older_prediction_is_of_80_percent() -> None:
    read = ESTIMATE.validate_python(OLDER)

    assert read == Interval(mean=2, low=1, high=3, level=0.8, evidence="predicted")
    assert read.value == 2.0


def test_a_prediction_keeps_the_name_of_its_mean_and_says_its_level() -> None:
    read = ESTIMATE.validate_python(OLDER)

    written = ESTIMATE.dump_python(read, mode="json")

    assert written == {**OLDER, "level": 0.8, "evidence": "predicted"}
    assert ESTIMATE.validate_json(json.dumps(written)) == read


def test_a_calibration_is_written_as_before() -> None:
    number = measured(2.0, 1.0, 3.0)

    assert MEASURED.dump_python(number, mode="json") == OLDER
    assert MEASURED.validate_python(OLDER) == number


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"low": 1, "high": 3}, "'value' is missing"),
        ({**OLDER, "colour": "red"}, "'colour' is no field of an interval"),
        ({**OLDER, "low": -1}, "low=-1.0"),
        ({**OLDER, "high": 1.5}, "high=1.5"),
        ({**OLDER, "high": float("inf")}, "not finite"),
        ({**OLDER, "value": float("nan")}, "value=nan"),
        (7, "Interval"),
    ],
)
def test_what_no_calibration_holds_is_refused(given: object, says: str) -> None:
    with pytest.raises(ValidationError, match=says):
        MEASURED.validate_python(given)


def test_a_mean_may_keep_its_name() -> None:
    adapter: TypeAdapter[Interval] = TypeAdapter(
        Annotated[Interval, IntervalJson(level=0.8, evidence="predicted", mean="mean")]
    )

    read = adapter.validate_python({"mean": 2, "low": 1, "high": 3})

    assert (read.level, read.evidence) == (0.8, "predicted")
    assert adapter.dump_python(read)["mean"] == 2.0


def test_a_comparison_of_an_older_version_claims_no_evidence() -> None:
    told = json.loads(example_comparison()[0].to_json())
    for name in ("level", "evidence"):
        del told["speedup"][name]

    speedup = Comparison.from_json(json.dumps(told)).speedup

    assert speedup is not None
    assert (speedup.level, speedup.evidence) == (0.95, "unknown")


def test_the_schema_says_what_an_interval_is_that_does_not() -> None:
    step = Prediction.model_json_schema()["properties"]["step_time_s"]

    assert step["required"] == ["value", "low", "high"]
    assert step["properties"]["level"]["default"] == 0.8
