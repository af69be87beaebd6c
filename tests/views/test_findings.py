from __future__ import annotations

import pytest

from smtc_lab.metrics.finding import Cost, Finding, caution
from smtc_lab.metrics.records.compiler_report import Place
from smtc_lab.metrics.result import Interval
from smtc_lab.views.text.findings import cost_words, told


def test_a_finding_is_told_with_its_place_cost_fix_and_action() -> None:
    finding = Finding(
        kind="recompilation",
        sentence="It began anew.",
        fix="Pad.",
        action="smtc-lab batch-size train.py",
        rank="algo-2-rank1",
        step=1200,
        place=Place(file="train.py", line=42),
        cost=Cost(fraction=0.2, s_per_step=Interval(mean=0.1, low=0.1, high=0.1)),
    )

    (said,) = told([finding])

    assert str(said) == (
        "warning: algo-2-rank1, train.py:42, step 1,200: It began anew. (20 % of the time, "
        "0.100 s per step, measured) Pad. smtc-lab batch-size train.py"
    )


def test_a_caution_has_no_place_and_no_cost() -> None:
    assert [str(each) for each in told([caution("noise", "It was noisy.", "Again.")])] == [
        "warning: It was noisy. Again."
    ]


@pytest.mark.parametrize(
    ("cost", "words"),
    [
        (Cost(), "cost not measured"),
        (Cost(fraction=0.0), "no cost here"),
        (Cost(fraction=0.5, evidence="estimated"), "50 % of the time, estimated"),
        (
            Cost(
                fraction=0.5,
                s_per_step=Interval(mean=2.0, low=1.9, high=2.1),
                usd_per_1000_steps=Interval(mean=3.0, low=2.8, high=3.2),
            ),
            (
                "50 % of the time, 2.00 s (1.90\u20132.10) per step, "
                "$3.00 (2.80\u20133.20) per 1,000 steps, measured"
            ),
        ),
    ],
)
def test_a_cost_is_told_as_far_as_it_is_known(cost: Cost, words: str) -> None:
    assert cost_words(cost) == words
