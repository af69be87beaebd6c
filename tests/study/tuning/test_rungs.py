"""Which trials are trained on."""

from __future__ import annotations

import math

import pytest

from smtc_lab.spec.tuning.question import HyperbandStrategyConfig, TuningQuestion
from smtc_lab.spec.tuning.ranges import ContinuousParameter
from smtc_lab.study.tuning.book import TrialBook
from smtc_lab.study.tuning.ledger import LedgerRow
from smtc_lab.study.tuning.rungs import MedianRule, Rungs


def halved(fewest: int = 1, most: int = 27) -> Rungs:
    rungs = Rungs.of(
        TuningQuestion(
            objective_metric_name="loss",
            objective_type="Minimize",
            hyperparameter_ranges={"lr": ContinuousParameter(0.0, 1.0)},
            strategy="Hyperband",
            strategy_config=HyperbandStrategyConfig(min_resource=fewest, max_resource=most),
        )
    )
    assert rungs is not None
    return rungs


def test_rungs_are_three_times_as_far_apart() -> None:
    assert halved().ends == (1, 3, 9)
    assert halved(2, 100).ends == (2, 6, 18, 54)
    assert halved().next_end(0) == 1
    assert halved().next_end(3) == 9
    assert halved().next_end(9) is None


def test_the_best_third_goes_on_and_the_furthest_first() -> None:
    rungs = halved()
    for number, value in enumerate([3.0, 1.0, math.nan, 2.0, 5.0]):
        rungs.came(number, 1, value)
        assert rungs.promotable() == (1 if number >= 2 else None)
    rungs.goes_on(1, 1)
    assert rungs.promotable() is None
    rungs.came(5, 1, 4.0)
    assert rungs.promotable() == 3  # two of six go on
    for number in (1, 7, 8):
        rungs.came(number, 3, 0.5 * number)
    assert rungs.promotable() == 1  # before those that are less far
    assert rungs.furthest() == 1


def test_nan_is_the_worst_and_greatest_can_be_best() -> None:
    rungs = halved()
    rungs.is_minimized = False
    for number, value in enumerate([math.nan, 1.0, 2.0]):
        rungs.came(number, 1, value)

    assert rungs.promotable() == 2


@pytest.mark.parametrize(
    ("own", "others", "expected"),
    [
        ([3.0], [[1.0], [2.0], [4.0]], True),  # the median of the means is 2
        ([2.0], [[1.0], [2.0], [4.0]], False),
        ([9.0], [[1.0], [2.0]], False),  # two others decide nothing
        ([1.0, 3.0], [[4.0, 0.0], [4.0, 2.0], [1.0], [6.0, 2.0]], False),  # means 2, 3, 4
        ([1.0, 3.1], [[4.0, 0.0], [4.0, 2.0], [1.0], [6.0, 2.0]], True),
    ],
)
def test_the_median_rule_is_sagemakers(
    own: list[float],
    others: list[list[float]],
    expected: bool,  # noqa: FBT001  a case
) -> None:
    for is_minimized, sign in ((True, 1.0), (False, -1.0)):
        rule = MedianRule(is_minimized=is_minimized)
        for values in others:
            rule.ended([sign * value for value in values])
        assert rule.is_worse(sign * own[-1], len(own)) is expected


def test_a_ledger_that_tells_of_nobody_changes_nothing() -> None:
    question = TuningQuestion(
        objective_metric_name="loss",
        hyperparameter_ranges={"lr": ContinuousParameter(0.0, 1.0)},
    )
    book = TrialBook(question, "study")
    rows = [
        LedgerRow(what="asked", number=3, parameters={"lr": 1.0}),
        LedgerRow(what="ended", number=-1, state="Completed", value=1.0),
        LedgerRow(what="ended", number=7, state="Completed", value=1.0),
    ]
    for row in rows:
        book.take(row)

    assert book.trials == book.ended == []
