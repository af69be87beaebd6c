"""What is suggested follows from question, seed and ledger alone."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

import pytest

from smtc_lab.spec.tuning.question import Strategy, TuningQuestion
from smtc_lab.spec.tuning.ranges import CategoricalParameter, parse_range
from smtc_lab.study.tuning.ledger import LedgerRow, TrialLedger, read_ledger
from smtc_lab.study.tuning.suggest import Suggestions

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

pytest.importorskip("optuna")

TEXTS = ["lr=log:1e-4..1e-1", "kind=adam,sgd", "m=reverse-log:0.5..0.999", "width=16..256"]
TRIALS = 30


def question(strategy: Strategy = "Bayesian", seed: int = 0) -> TuningQuestion:
    return TuningQuestion(
        objective_metric_name="loss",
        objective_type="Minimize",
        hyperparameter_ranges=dict(map(parse_range, TEXTS)),
        strategy=strategy,
        max_jobs=TRIALS,
        random_seed=seed,
    )


def loss(parameters: dict[str, Any]) -> float:
    far = math.log(parameters["lr"]) + 5
    return far**2 + (parameters["kind"] == "sgd") + parameters["width"] / 100


def played(
    asked: TuningQuestion, past: Sequence[LedgerRow] = (), *, most_rows: int = 10**6
) -> list[LedgerRow]:
    """Search with two trials at once, from what is there already; return all rows."""
    suggestions, rows = Suggestions(asked), list(past)
    for row in rows:
        suggestions.tell(row)
    parameters = {row.number: row.parameters for row in rows if row.what == "asked"}
    ended = {row.number for row in rows if row.what == "ended"}
    going = [number for number in parameters if number not in ended]
    while (going or len(parameters) < TRIALS) and len(rows) < most_rows:
        if len(going) < 2 and len(parameters) < TRIALS:
            number = len(parameters)
            parameters[number], attributes = suggestions.suggest(number)
            going.append(number)
            told = json.loads(json.dumps(attributes))  # as the ledger has them
            row = LedgerRow(
                what="asked", number=number, parameters=parameters[number], attributes=told
            )
        else:
            number = going.pop(0)
            value = loss(parameters[number]) if number % 7 else None
            row = LedgerRow(what="ended", number=number, state="Completed", value=value)
            suggestions.tell(row)
        rows.append(row)
    return rows


@pytest.mark.parametrize("strategy", ["Bayesian", "Random", "Hyperband"])
def test_a_search_that_goes_on_suggests_what_it_would_have(strategy: Strategy) -> None:
    whole = played(question(strategy))

    for cut in (1, 2, 3, 20, 31, 44, 59):
        before = played(question(strategy), most_rows=cut)
        assert len(before) == cut
        assert played(question(strategy), before) == whole


def test_another_seed_searches_elsewhere() -> None:
    assert played(question(seed=1), most_rows=1) != played(question(), most_rows=1)


def test_what_is_suggested_lies_in_its_range_and_learns() -> None:
    rows = played(question())
    asked = [row.parameters for row in rows if row.what == "asked"]
    found = [loss(each) for each in asked]

    assert all(1e-4 <= each["lr"] <= 1e-1 for each in asked)
    assert all(0.5 <= each["m"] <= 0.999 for each in asked)
    assert {each["kind"] for each in asked} == {"adam", "sgd"}
    assert all(isinstance(each["width"], int) and 16 <= each["width"] <= 256 for each in asked)
    assert min(found[10:]) < min(found[:10])
    # by their distance to 1, which is what the range says
    assert sum(each["m"] > 0.95 for each in asked) > TRIALS / 4


def test_a_grid_is_gone_through_in_order() -> None:
    ranges = {"a": CategoricalParameter([1, 2]), "b": CategoricalParameter(["x", "y"])}
    asked = TuningQuestion(
        objective_metric_name="loss", hyperparameter_ranges=ranges, strategy="Grid"
    )

    found = [Suggestions(asked).suggest(number)[0] for number in range(4)]

    assert found == [
        {"a": 1, "b": "x"},
        {"a": 1, "b": "y"},
        {"a": 2, "b": "x"},
        {"a": 2, "b": "y"},
    ]


def test_the_ledger_gives_back_what_was_written(tmp_path: Path) -> None:
    rows = played(question(), most_rows=12)

    with TrialLedger(tmp_path) as ledger:
        for row in rows:
            ledger.write(row)
        assert read_ledger(tmp_path) == rows

    assert read_ledger(tmp_path, after=9) == rows[9:]
    assert read_ledger(tmp_path / "nothing") == []
