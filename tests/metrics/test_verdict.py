# ruff: noqa: RUF001  a verdict is typeset: multiplication sign, en dash, minus sign

from __future__ import annotations

import json
from pathlib import Path

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


def test_faster_and_cheaper_is_one_statement() -> None:
    assert clause(FASTER, CHEAPER) == (
        "heterogeneous is 5.8× faster (95 % interval 5.6–6.0) and 74 % cheaper per step "
        "(95 % interval 72–75 %) than homogeneous"
    )


def test_faster_but_more_expensive_is_a_contrast() -> None:
    assert clause(FASTER, DEARER) == (
        "heterogeneous is 5.8× faster (95 % interval 5.6–6.0) but 20 % more expensive per step "
        "(95 % interval 10–30 %) than homogeneous"
    )


def test_slower_turns_the_ratio_round() -> None:
    assert clause(SLOWER, DEARER) == (
        "heterogeneous is 2.0× slower (95 % interval 1.2–2.5) and 20 % more expensive per step "
        "(95 % interval 10–30 %) than homogeneous"
    )


def test_an_interval_that_spans_one_shows_no_difference() -> None:
    assert clause(ALIKE, DEARER) == (
        "heterogeneous against homogeneous: no difference seen in step time: ratio 1.01 (95 % "
        "interval 0.97–1.05); heterogeneous is 20 % more expensive per step (95 % interval "
        "10–30 %)"
    )


def test_unlike_steps_are_judged_per_sample() -> None:
    """A step that is half as fast has four times the samples; an hour costs twice as much."""
    assert clause((0.5, 0.45, 0.55), (-3.0, -3.4, -2.6), times_the_samples=4) == (
        "heterogeneous trains 2.0× the samples a second (95 % interval 1.8–2.2) of "
        "homogeneous; no difference seen in cost per sample: 0 % saved (95 % interval −10 % "
        "to 10 %)"
    )
    assert clause((0.5, 0.45, 0.55), (-0.6, -0.7, -0.5), times_the_samples=4) == (
        "heterogeneous trains 2.0× the samples a second (95 % interval 1.8–2.2) of homogeneous "
        "and is 60 % cheaper per sample (95 % interval 57–62 %)"
    )
    assert clause((0.2, 0.19, 0.21), (-5.0, -5.2, -4.8), times_the_samples=4) == (
        "heterogeneous trains 0.80× the samples a second (95 % interval 0.76–0.84) of "
        "homogeneous and is 50 % more expensive per sample (95 % interval 45–55 %)"
    )
    assert clause((0.25, 0.24, 0.26), (0.1, 0.05, 0.2), times_the_samples=4).startswith(
        "heterogeneous against homogeneous: no difference seen in samples a second: ratio 1.00 "
    )


@pytest.mark.parametrize("speedup", [(1.0, 1.0, 1.0), (1.1, 1.0, 1.2), (0.9, 0.8, 1.0)])
def test_an_interval_that_touches_one_shows_no_difference(
    speedup: tuple[float, float, float],
) -> None:
    assert "no difference seen in step time" in clause(speedup, CHEAPER)


def test_a_saving_that_spans_zero_shows_no_difference_in_cost() -> None:
    assert clause(FASTER, SAME_COST) == (
        "heterogeneous is 5.8× faster (95 % interval 5.6–6.0) than homogeneous; no difference "
        "seen in cost per step: 1 % saved (95 % interval −3 % to 5 %)"
    )


def test_no_difference_in_either_says_so_twice() -> None:
    text = clause(ALIKE, SAME_COST)

    assert "no difference seen in step time: ratio 1.01" in text
    assert "; no difference seen in cost per step" in text


@pytest.mark.parametrize("speedup", [(0.9, 0.1, 8.0), (1.0, 0.4, 1.7), (1.0, 0.0, 2.0)])
def test_an_interval_so_wide_that_it_tells_nothing_is_not_printed(
    speedup: tuple[float, float, float],
) -> None:
    assert clause(speedup, (0.1, -6.0, 0.9)) == (
        "heterogeneous against homogeneous: no difference seen in step time, and none ruled "
        "out (more rounds tell more); no difference seen in cost per step, and none ruled out "
        "(more rounds tell more)"
    )


def test_an_interval_four_times_as_high_as_low_is_still_printed() -> None:
    assert "ratio 1.00 (95 % interval 0.50–2.00)" in clause((1.0, 0.5, 2.0), CHEAPER)


def test_an_unknown_price_makes_the_cost_unknown() -> None:
    assert clause(FASTER, None, "ml.p5e.48xlarge").endswith(
        "than homogeneous; cost unknown: ml.p5e.48xlarge has no price"
    )
    assert "local, ml.p5e.48xlarge have no price" in clause(
        ALIKE, None, "local", "ml.p5e.48xlarge"
    )
    assert clause(FASTER, None, "local").endswith("; this machine has no price")


def test_a_baseline_that_costs_nothing_is_not_compared() -> None:
    assert clause(FASTER, None).endswith("costs not compared: homogeneous costs nothing")


def test_close_numbers_get_the_decimals_that_keep_them_apart() -> None:
    text = clause((2.231, 2.224, 2.238), (0.4652, 0.4641, 0.4663))

    assert "2.23× faster (95 % interval 2.22–2.24)" in text
    assert "46.5 % cheaper per step (95 % interval 46.4–46.6 %)" in text


def test_nothing_is_minus_zero() -> None:
    assert "−0 " not in clause(ALIKE, (0.001, -0.001, 0.2))


def test_the_scale_of_an_emulation_is_named() -> None:
    scale = {"cores_per_vcpu": 0.045, "device_step_time_s": 0.04}

    assert emulation_clause(scale) == "emulated device, scale 1 vCPU = 0.045 cores"
    assert (
        emulation_clause({**scale, "device_step_time_s": None})
        == "emulated, scale 1 vCPU = 0.045 cores"
    )
    assert (
        emulation_clause({"cores_per_vcpu": None, "device_step_time_s": None})
        == "emulated, scale unknown"
    )
    assert emulation_clause(None) == ""


def test_a_verdict_is_one_sentence_with_remarks_behind_it() -> None:
    assert (
        verdict(["a", "b"], emulation="emulated", remarks=[caution("care", "Careful.")])
        == "a; b; emulated. Careful."
    )
    assert verdict(["a"]) == "a."


def test_a_single_cluster_is_compared_with_nothing() -> None:
    text = single_clause("homogeneous", Interval(mean=0.2, low=0.19, high=0.21))

    assert text.startswith("homogeneous takes 0.2 s for a step (95 % interval 0.19–0.21)")
    assert "no other cluster" in text


WIDE = Path(__file__).parent.parent / "fixtures" / "wide_intervals.json"


@pytest.mark.parametrize("case", json.loads(WIDE.read_text(encoding="utf-8")), ids=str)
def test_an_interval_that_spans_more_than_fourfold_is_wide(case: dict[str, float]) -> None:
    assert is_wide(case["low"], case["high"]) is case["is_wide"]
