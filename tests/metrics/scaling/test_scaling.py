"""Efficiencies, losses, prices and the knee of launches whose truth is known."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from smtc_lab.errors import StoreError
from smtc_lab.metrics.records.records import ALONE, EventRecord
from smtc_lab.metrics.result import Interval
from smtc_lab.metrics.scaling.efficiency import knee, marginal_efficiency
from smtc_lab.metrics.scaling.lost import parts_of_steps
from smtc_lab.metrics.scaling.scaling import CAUSES, Scaling
from smtc_lab.spec.emulation import Emulation
from smtc_lab.views.scaling.figure import scaling_figure
from smtc_lab.views.scaling.info import scaling_info
from smtc_lab.views.scaling.text import scaling_text
from smtc_lab.views.text.words import headline
from tests.kit.scaling import TrueStep, made_scaling, scaling_runs

if TYPE_CHECKING:
    from tests.kit.golden_texts import GoldenTexts

TRUTH = {
    1: TrueStep(),
    2: TrueStep(rest_s=0.015),
    4: TrueStep(data_wait_s=0.03, straggling_s=0.005, rest_s=0.02),
    8: TrueStep(data_wait_s=0.20, straggling_s=0.005, rest_s=0.02),
}
UNIT = {"spread": "launches", "candidates": 3}


def told(**how: object) -> Scaling:
    runs, set_ups = scaling_runs(TRUTH, **how)  # type: ignore[arg-type]
    return made_scaling(runs, set_ups, mode=how.get("mode", "weak"))  # type: ignore[arg-type]


def test_weak_efficiency_is_the_step_time_of_one_device_over_that_of_many() -> None:
    (curve,) = told(spread=0.0).curves

    found = [point.efficiency and point.efficiency.mean for point in curve.points]
    expected = [TRUTH[1].step_time_s / true.step_time_s for true in TRUTH.values()]
    assert found == [None, *(pytest.approx(each, rel=0.01) for each in expected[1:])]
    assert curve.points[2].speedup == curve.points[2].efficiency.scaled(4)  # type: ignore[union-attr]


def test_strong_efficiency_divides_by_the_devices() -> None:
    truth = {1: TrueStep(), 4: TrueStep(compute_s=0.02, data_wait_s=0.0025, rest_s=0.0275)}
    runs, set_ups = scaling_runs(truth, spread=0.0, mode="strong")

    point = made_scaling(runs, set_ups, mode="strong").curves[0].points[1]

    assert point.efficiency.mean == pytest.approx(0.1 / (4 * 0.05), rel=0.01)  # type: ignore[union-attr]
    assert point.ideal_step_time_s == pytest.approx(0.025, rel=0.01)
    lost = {part.cause: part.s_per_step.mean for part in point.lost}
    assert lost["other"] == pytest.approx(0.025, rel=0.02)
    assert lost["compute"] == pytest.approx(0.0, abs=1e-3)


def test_the_parts_of_a_loss_add_up_to_it_and_to_the_step() -> None:
    for point in told().curves[0].points[1:]:
        assert point.loss_s is not None
        assert sum(part.s_per_step.mean for part in point.lost) == pytest.approx(
            point.loss_s.mean
        )
        assert point.ideal_step_time_s + point.loss_s.mean == pytest.approx(
            point.step_time_s.mean
        )


def test_each_loss_is_told_by_its_cause() -> None:
    point = told(spread=0.0).curves[0].points[2]

    lost = {part.cause: part.s_per_step.mean for part in point.lost}
    assert lost == {
        "data_wait": pytest.approx(0.02, rel=0.05),
        "stragglers": pytest.approx(0.005, rel=0.05),
        "compute": pytest.approx(0.0, abs=1e-3),
        "other": pytest.approx(0.01, rel=0.1),
    }


def test_exposed_communication_stands_apart_from_waiting_for_the_slowest() -> None:
    step = np.full((2, 1), 1.0)
    device = np.array([[0.8], [0.5]])
    exposed, waited = np.full((2, 1), 0.1), np.array([[0.0], [0.3]])

    parts = parts_of_steps(step, np.full((2, 1), 0.1), device, exposed, waited)

    found = dict(zip(CAUSES, parts[:, 0], strict=True))
    assert found == {
        "data_wait": pytest.approx(0.1),
        "stragglers": pytest.approx(0.15),
        "communication": pytest.approx(0.1),
        "compute": pytest.approx(0.65),
        "other": pytest.approx(0.0),
    }


def test_what_is_not_measured_is_no_part_of_its_own() -> None:
    unknown = np.full((2, 3), np.nan)

    parts = parts_of_steps(np.full((2, 3), 1.0), np.full((2, 3), 0.1), *[unknown] * 3)

    assert np.isnan(parts[[2, 3]]).all()
    assert parts[4] == pytest.approx(0.9)


def test_recorded_communication_is_a_loss_of_its_own_and_no_wait_for_the_slowest() -> None:
    truth = {
        1: TrueStep(),
        2: TrueStep(rest_s=0.03, straggling_s=0.005, exposed_comm_s=0.015),
        4: TrueStep(rest_s=0.04, straggling_s=0.02, exposed_comm_s=0.025),
    }
    runs, set_ups = scaling_runs(truth, spread=0.0)

    points = made_scaling(runs, set_ups).curves[0].points

    lost = {part.cause: part.s_per_step.mean for part in points[2].lost}
    assert lost == {
        "data_wait": pytest.approx(0.0, abs=1e-3),
        "stragglers": pytest.approx(0.02, rel=0.05),
        "communication": pytest.approx(0.025, rel=0.05),
        "compute": pytest.approx(0.0, abs=1e-3),
        "other": pytest.approx(0.005, rel=0.2),
    }
    assert points[0].exposed_comm_s is None
    assert points[1].exposed_comm_s is not None
    assert points[1].exposed_comm_s.mean == pytest.approx(0.015, rel=0.05)
    assert (points[1].exposed_comm_s.evidence, points[1].exposed_comm_s.spread) == (
        "measured",
        "launches",
    )


def test_communication_that_some_launch_did_not_record_is_in_all_else() -> None:
    truth = {1: TrueStep(), 2: TrueStep(rest_s=0.03, exposed_comm_s=0.015)}
    runs, set_ups = scaling_runs(truth, spread=0.0)
    lacking = runs[-1]
    rank, records = next(iter(lacking.steps.items()))
    records = [*records[:-1], replace(records[-1], exposed_comm_s=None)]
    runs[-1] = replace(lacking, steps={**lacking.steps, rank: records})

    point = made_scaling(runs, set_ups).curves[0].points[1]

    assert point.exposed_comm_s is not None, "the launches that recorded it tell it"
    assert point.exposed_comm_s.mean == pytest.approx(0.015, rel=0.05)
    lost = {part.cause: part.s_per_step.mean for part in point.lost}
    assert "communication" not in lost
    assert lost["other"] == pytest.approx(0.02, rel=0.1)


def test_the_knee_is_the_last_point_behind_which_no_interval_fails() -> None:
    def of(low: float, **fields: object) -> Interval:
        return Interval(mean=low + 0.05, low=low, high=low + 0.1, **{**UNIT, **fields})  # type: ignore[arg-type]

    devices = [1, 2, 4, 8]
    assert knee(devices, [of(0.9), of(0.6), of(0.3)], bound=0.5) == 4
    assert knee(devices, [of(0.9), of(0.45), of(0.9)], bound=0.5) == 2
    assert knee(devices, [of(0.1), of(0.9), of(0.9)], bound=0.5) == 1
    assert knee(devices, [of(0.9), of(0.9), of(0.9, spread="steps")], bound=0.5) is None
    assert knee([1], [], bound=0.5) is None


def test_a_marginal_efficiency_is_what_each_added_device_brings() -> None:
    speed_up = Interval(mean=1.6, low=1.5, high=1.7)

    brought = marginal_efficiency(speed_up, devices_growth=2)

    assert (brought.mean, brought.low, brought.high) == pytest.approx((0.6, 0.5, 0.7))


def test_prices_are_of_samples_and_of_the_epoch_that_somebody_named() -> None:
    runs, set_ups = scaling_runs(TRUTH, spread=0.0)
    scaling = made_scaling(runs, set_ups, samples_per_epoch=50_000)

    first, second = scaling.curves[0].points[:2]

    assert first.usd_per_hour is not None
    assert first.usd_per_epoch is not None
    steps = 50_000 / 32
    usd = steps * first.step_time_s.mean * first.usd_per_hour / 3600
    assert first.usd_per_epoch.mean == pytest.approx(usd)
    assert first.usd_per_million_samples.mean == pytest.approx(usd * 20)  # type: ignore[union-attr]
    assert first.epoch_s.mean == pytest.approx(steps * first.step_time_s.mean)  # type: ignore[union-attr]
    assert second.cost_efficiency.mean == pytest.approx(second.efficiency.mean)  # type: ignore[union-attr]
    assert made_scaling(runs, set_ups).curves[0].points[0].usd_per_epoch is None


VERDICTS: dict[str, tuple[dict[int, TrueStep], dict[str, Any], int | None]] = {
    "it pays up to a knee": (
        TRUTH,
        {"spread": 0.002, "emulation": Emulation(cores_per_vcpu=0.02)},
        4,
    ),
    "it pays to the end": (
        {1: TrueStep(), 2: TrueStep(rest_s=0.011)},
        {"spread": 0.002},
        2,
    ),
    "it does not pay": ({1: TrueStep(), 2: TrueStep(rest_s=0.08)}, {"spread": 0.002}, 1),
    "launches do not tell": ({1: TrueStep(), 2: TrueStep(rest_s=0.043)}, {"rounds": 2}, 1),
    "one launch of each claims nothing": (TRUTH, {"rounds": 1}, None),
}


@pytest.mark.parametrize("case", VERDICTS)
def test_the_verdict_says_whether_adding_devices_pays(
    golden_texts: GoldenTexts, case: str
) -> None:
    truth, how, last = VERDICTS[case]

    scaling = made_scaling(*scaling_runs(truth, **how))

    assert scaling.curves[0].knee == last
    golden_texts("scaling", {"verdict": scaling.verdict})


@pytest.mark.parametrize("devices", [(1, 2), (2, 4)])
def test_trainers_that_never_join_claim_no_efficiency(
    golden_texts: GoldenTexts, devices: tuple[int, ...]
) -> None:
    """Steps are as long on each number of devices, which looks like perfect scaling."""
    runs, set_ups = scaling_runs({count: TrueStep() for count in devices})
    apart = EventRecord(time_s=0.0, kind=ALONE, host="algo-1", message="They train apart.")
    runs = [replace(run, events=[apart]) if len(run.steps) > 1 else run for run in runs]

    scaling = made_scaling(runs, set_ups)

    assert not re.search("efficiency|samples per second|other number", scaling.verdict)
    assert [point.devices for curve in scaling.curves for point in curve.points] == [
        count for count in devices if count == 1
    ]
    assert scaling.findings[0].kind == "trainers_apart"
    assert "faster" not in scaling.comparison.verdict
    assert Scaling.from_json(scaling.to_json()) == scaling
    info = scaling_info(scaling, [each.set_up for each in set_ups])
    assert scaling_figure(info).axes
    told = {"verdict": scaling.verdict, "comparison": scaling.comparison.verdict}
    golden_texts("scaling", told | {"headline": headline(scaling.comparison)})
    assert scaling.verdict in " ".join(scaling_text(scaling).split())


def test_advice_has_the_numbers_of_this_job(golden_texts: GoldenTexts) -> None:
    findings = {each.kind: each for each in told().findings}

    assert {"bigger_instance", "scaling_data_wait", "learning_rate"} <= set(findings)
    assert findings["scaling_data_wait"].cost is not None
    golden_texts("scaling", {kind: each.text for kind, each in findings.items()})


@pytest.mark.parametrize(
    ("optimizer", "told_of"),
    [("sgd", {"SGD"}), ("Adam", {"ADAM"}), ("lion", {"SGD", "ADAMW"}), (3, {"SGD", "ADAMW"})],
)
def test_the_learning_rate_is_of_the_optimizer_that_the_job_names(
    optimizer: Any, told_of: set[str]
) -> None:
    runs, set_ups = scaling_runs({1: TrueStep(), 2: TrueStep()})
    named = {"hyperparameters": {"optimizer": optimizer}}
    runs = [replace(run, job=run.job.model_copy(update=named)) for run in runs]

    found = made_scaling(runs, set_ups).findings

    (fix,) = (each.fix for each in found if each.kind == "learning_rate")
    assert {name.upper() for name in re.findall(r" with (\w+) \(", fix)} == told_of


def test_why_communication_is_not_told_apart_is_said_with_what_would_tell_it(
    golden_texts: GoldenTexts,
) -> None:
    def said(exposed_s: float | None, **environment: str) -> list[str]:
        truth = {1: TrueStep(), 2: TrueStep(rest_s=0.03, exposed_comm_s=exposed_s)}
        runs, set_ups = scaling_runs(truth, spread=0.0)
        runs = [
            replace(run, job=run.job.model_copy(update={"environment": environment}))
            for run in runs
        ]
        found = made_scaling(runs, set_ups).findings
        return [each.text for each in found if each.kind == "communication_untold"]

    (unrecorded,) = said(None)
    (turned_off,) = said(None, MEASURE_COMMUNICATION="0")
    assert said(0.02) == []
    golden_texts("scaling", {"not recorded": unrecorded, "turned off": turned_off})


def test_a_batch_that_was_divided_is_said() -> None:
    runs, set_ups = scaling_runs({1: TrueStep(), 4: TrueStep()}, mode="strong")

    scaling = made_scaling(runs, set_ups, mode="weak")

    assert scaling.findings[0].kind == "batch_of_step"
    assert scaling.curves[0].points[1].efficiency.mean == pytest.approx(0.25, rel=0.1)  # type: ignore[union-attr]


def test_the_result_goes_to_json_and_back_and_says_what_is_damaged() -> None:
    scaling = told()

    assert Scaling.from_json(scaling.to_json()) == scaling
    with pytest.raises(StoreError, match=r"not a scaling study .* 'smtc-lab scale'"):
        Scaling.from_json("{}")


def test_all_efficiencies_at_once_hold_the_truth_95_times_in_100() -> None:
    true_s = [true.step_time_s for true in TRUTH.values()]
    devices = list(TRUTH)
    efficiencies = [true_s[0] / each for each in true_s[1:]]
    marginal = [
        (after / before * one / two - 1) / (after / before - 1)
        for (before, after), (one, two) in zip(pairwise(devices), pairwise(true_s), strict=True)
    ]
    held = {"efficiency": 0, "marginal": 0, "lost": 0}
    times = 300
    for seed in range(times):
        runs, set_ups = scaling_runs(TRUTH, rounds=3, steps=12, spread=0.03, seed=seed)
        points = made_scaling(runs, set_ups).curves[0].points[1:]
        for name, found, truth in (
            ("efficiency", [each.efficiency for each in points], efficiencies),
            ("marginal", [each.marginal_efficiency for each in points], marginal),
            (
                "lost",
                [each.loss_s for each in points],
                [each - true_s[0] for each in true_s[1:]],
            ),
        ):
            held[name] += all(
                each is not None and each.low <= true <= each.high
                for each, true in zip(found, truth, strict=True)
            )

    # 0.95 less three standard errors of 300 draws
    assert {name: count for name, count in held.items() if count < (0.95 - 0.038) * times} == {}
