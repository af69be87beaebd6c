from __future__ import annotations

from typing import TYPE_CHECKING

from smtc_lab.metrics.finding import Cost, Finding, caution
from smtc_lab.metrics.records.compiler_report import Place
from smtc_lab.metrics.result import Interval
from smtc_lab.views.text.findings import cost_words, told

if TYPE_CHECKING:
    from tests.kit.golden_texts import GoldenTexts


def test_findings_and_their_costs_in_words(golden_texts: GoldenTexts) -> None:
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
    costs = (
        Cost(),
        Cost(fraction=0.0),
        Cost(fraction=0.5, evidence="estimated"),
        Cost(
            fraction=0.5,
            s_per_step=Interval(mean=2.0, low=1.9, high=2.1),
            usd_per_1000_steps=Interval(mean=3.0, low=2.8, high=3.2),
        ),
    )
    of_all = told([finding, caution("noise", "It was noisy.", "Again.")])

    golden_texts(
        "findings",
        {"with all, and with none": "\n".join(map(str, of_all))}
        | {f"cost {n}": cost_words(cost) for n, cost in enumerate(costs, 1)},
    )
