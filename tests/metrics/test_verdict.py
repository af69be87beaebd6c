from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from smtc_lab.metrics.compared.pair_result import PairResult
from smtc_lab.metrics.compared.verdict import (
    emulation_clause,
    pair_clause,
    single_clause,
    verdict,
)
from smtc_lab.metrics.finding import caution
from smtc_lab.metrics.result import Interval, is_wide

if TYPE_CHECKING:
    from tests.kit.golden_texts import GoldenTexts


def clause(
    speedup: tuple[float, float, float],
    saving: tuple[float, float, float] | None,
    *unpriced: str,
    times_the_samples: float | None = None,
) -> str:
    """Return the clause for (mean, low, high) of both."""
    pair = PairResult(
        baseline="homogeneous",
        candidate="heterogeneous",
        speedup=_interval(speedup),
        saving_fraction=None if saving is None else _interval(saving),
        saving_per_job_fraction=None,
        times_the_samples=times_the_samples,
        evidence="measured",
        verdict="",
    )
    return pair_clause(pair, unpriced=unpriced)


def _interval(values: tuple[float, float, float]) -> Interval:
    mean, low, high = values
    return Interval(mean=mean, low=low, high=high)


FASTER = (5.8, 5.6, 6.0)
SLOWER = (0.5, 0.4, 0.8)
ALIKE = (1.01, 0.97, 1.05)
CHEAPER = (0.74, 0.72, 0.75)
DEARER = (-0.2, -0.3, -0.1)
SAME_COST = (0.01, -0.03, 0.05)


def test_a_clause_tells_speed_and_cost_as_far_as_intervals_do(
    golden_texts: GoldenTexts,
) -> None:
    told = {
        "faster and cheaper": clause(FASTER, CHEAPER),
        "faster but dearer": clause(FASTER, DEARER),
        "slower: the ratio is turned round": clause(SLOWER, DEARER),
        "an interval that spans one": clause(ALIKE, DEARER),
        "a saving that spans zero": clause(FASTER, SAME_COST),
        "no difference in either": clause(ALIKE, SAME_COST),
        "nothing is minus zero": clause(ALIKE, (0.001, -0.001, 0.2)),
        "close numbers are kept apart": clause((2.231, 2.224, 2.238), (0.4652, 0.4641, 0.4663)),
        "a claim is kept apart from none": clause((1.13, 1.03, 1.23), (0.02, 0.004, 0.03)),
        "an interval of four times": clause((1.0, 0.5, 2.0), CHEAPER),
        "one price is unknown": clause(FASTER, None, "ml.p5e.48xlarge"),
        "two prices are unknown": clause(ALIKE, None, "local", "ml.p5e.48xlarge"),
        "this machine": clause(FASTER, None, "local"),
        "a baseline that costs nothing": clause(FASTER, None),
    }
    for ends in ((1.0, 1.0, 1.0), (1.1, 1.0, 1.2), (0.9, 0.8, 1.0)):
        told[f"an interval that touches one: {ends}"] = clause(ends, CHEAPER)
    for ends in ((0.9, 0.1, 8.0), (1.0, 0.4, 1.7), (1.0, 0.0, 2.0)):
        told[f"an interval that tells nothing: {ends}"] = clause(ends, (0.1, -6.0, 0.9))
    # half as fast with four times the samples, where an hour costs twice as much
    for ends, saving in (
        ((0.5, 0.45, 0.55), (-3.0, -3.4, -2.6)),
        ((0.5, 0.45, 0.55), (-0.6, -0.7, -0.5)),
        ((0.2, 0.19, 0.21), (-5.0, -5.2, -4.8)),
        ((0.25, 0.24, 0.26), (0.1, 0.05, 0.2)),
    ):
        words = clause(ends, saving, times_the_samples=4)
        told[f"four times the samples: {ends}, {saving}"] = words

    golden_texts("verdicts", told)


def test_a_verdict_is_one_sentence_with_its_scale_and_remarks(
    golden_texts: GoldenTexts,
) -> None:
    scale = {"cores_per_vcpu": 0.045, "device_step_time_s": 0.04}
    step = Interval(mean=0.2, low=0.19, high=0.21)

    golden_texts(
        "verdicts",
        {
            "an emulated device": emulation_clause(scale),
            "no device": emulation_clause({**scale, "device_step_time_s": None}),
            "unknown scale": emulation_clause(dict.fromkeys(scale)),
            "nothing emulated": emulation_clause(None),
            "clauses and a remark": verdict(
                ["a", "b"], emulation="emulated", remarks=[caution("care", "Careful.")]
            ),
            "one clause": verdict(["a"]),
            "one cluster": single_clause("homogeneous", step),
        },
    )


WIDE = Path(__file__).parent.parent / "fixtures" / "wide_intervals.json"


@pytest.mark.parametrize("case", json.loads(WIDE.read_text(encoding="utf-8")), ids=str)
def test_an_interval_that_spans_more_than_fourfold_is_wide(case: dict[str, float]) -> None:
    assert is_wide(case["low"], case["high"]) is case["is_wide"]
