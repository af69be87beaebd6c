"""Ranges and questions of a search of hyperparameters, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from smtc_lab.errors import SpecError
from smtc_lab.spec.tuning.question import (
    HyperbandStrategyConfig,
    TuningJobCompletionCriteriaConfig,
    TuningQuestion,
)
from smtc_lab.spec.tuning.ranges import (
    CategoricalParameter,
    ContinuousParameter,
    IntegerParameter,
    parse_range,
)

LR = ContinuousParameter(1e-4, 1e-1)


def question(**changes: Any) -> TuningQuestion:
    values: dict[str, Any] = {"lr": LR} if "ranges" not in changes else changes.pop("ranges")
    return TuningQuestion(objective_metric_name="loss", hyperparameter_ranges=values, **changes)


@pytest.mark.parametrize(
    ("text", "name", "expected"),
    [
        ("lr=log:1e-4..1e-1", "lr", ContinuousParameter(1e-4, 1e-1, "Logarithmic")),
        ("width=16..256", "width", IntegerParameter(16, 256)),
        ("width=log:16..256", "width", IntegerParameter(16, 256, "Logarithmic")),
        ("drop=0..0.5", "drop", ContinuousParameter(0.0, 0.5)),
        ("m=reverse-log:0.5..0.99", "m", ContinuousParameter(0.5, 0.99, "ReverseLogarithmic")),
        ("kind=adam, sgd", "kind", CategoricalParameter(["adam", "sgd"])),
        ("layers=1,2,4", "layers", CategoricalParameter([1, 2, 4])),
        ("x=-1..-0.5", "x", ContinuousParameter(-1.0, -0.5)),
    ],
)
def test_a_range_is_written_in_a_word(text: str, name: str, expected: object) -> None:
    assert parse_range(text) == (name, expected)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("lr", "is not NAME=LOW..HIGH"),
        ("=1..2", "is not NAME=LOW..HIGH"),
        ("lr=cube:1..2", "has the scale 'cube'. There are: linear, log, reverse-log"),
        ("lr=a..2", "has the end 'a', which is no number"),
        ("lr=1..nan", "has the end 'nan', which is no number"),
        ("lr=2..1", "goes from 2 to 1"),
        ("lr=log:0..1", "begins at 0, but 0 and what is below has no logarithm"),
        ("lr=reverse-log:0..1", "outside 0 to below 1"),
        ("kind=a,a", "has a value twice"),
    ],
)
def test_what_is_no_range_is_refused(text: str, why: str) -> None:
    with pytest.raises(SpecError) as refused:
        parse_range(text)

    assert why in str(refused.value)


def test_auto_is_logarithmic_where_the_ends_are_far_apart() -> None:
    assert LR.is_logarithmic
    assert not ContinuousParameter(1e-4, 1e-3).is_logarithmic
    assert not ContinuousParameter(0.0, 1.0).is_logarithmic
    assert IntegerParameter(1, 100).is_logarithmic
    assert not IntegerParameter(1, 100, "Linear").is_logarithmic


def test_a_question_survives_json() -> None:
    asked = question(
        ranges={"lr": LR, "n": IntegerParameter(1, 9), "k": CategoricalParameter(["a", 2])},
        strategy="Hyperband",
        strategy_config=HyperbandStrategyConfig(min_resource=2, max_resource=9),
        completion_criteria_config=TuningJobCompletionCriteriaConfig(
            target_objective_metric_value=0.1
        ),
        max_jobs=7,
        budget_usd=2.0,
    )

    assert TuningQuestion.model_validate(asked.model_dump(mode="json")) == asked


def test_a_grid_has_as_many_trials_as_combinations() -> None:
    ranges = {"a": CategoricalParameter([1, 2, 3]), "b": CategoricalParameter(["x", "y"])}

    assert question(ranges=ranges, strategy="Grid").num_trials == 6


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"ranges": {}}, "Need to specify hyperparameter ranges."),
        ({"ranges": {f"p{n}": LR for n in range(31)}}, "31 hyperparameters would be searched"),
        ({"strategy": "Grid"}, "takes categorical ranges alone, and 'lr' is none"),
        ({"max_jobs": 0}, "max_jobs=0 is outside 1 to 10,000"),
        ({"max_parallel_jobs": 101}, "max_parallel_jobs=101 is outside 1 to 100"),
        ({"budget_usd": 0.0}, "budget_usd=0 is not above 0"),
        (
            {"strategy": "Hyperband", "early_stopping_type": "Auto"},
            "early_stopping_type has to be 'Off' with the strategy Hyperband",
        ),
        ({"strategy_config": HyperbandStrategyConfig()}, "is of Hyperband, and the strategy"),
    ],
)
def test_what_does_not_fit_together_is_refused(changes: dict[str, Any], why: str) -> None:
    with pytest.raises(SpecError) as refused:
        question(**changes)

    assert why in str(refused.value)


def test_numbers_of_criteria_are_checked() -> None:
    with pytest.raises(SpecError, match="min_resource=3 to max_resource=3"):
        HyperbandStrategyConfig(min_resource=3, max_resource=3)
    criteria = TuningJobCompletionCriteriaConfig(max_number_of_training_jobs_not_improving=2)
    with pytest.raises(SpecError, match="is below 3"):
        question(completion_criteria_config=criteria)
