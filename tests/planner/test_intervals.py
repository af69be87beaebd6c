"""Intervals of predictions: which of two they are, why, and how often they hold."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from smtc_lab.errors import PlannerError
from smtc_lab.planner import intervals
from smtc_lab.planner.calibration.parts import DevicePoint
from smtc_lab.planner.model.model import EXTRAPOLATION_ERROR, MODEL_ERROR
from smtc_lab.planner.model.predict import predict
from smtc_lab.planner.model.prediction import Prediction
from smtc_lab.planner.model.setup import Setup
from smtc_lab.planner.model.sharpness import LEAST_DEFAULT_P, p_norm
from smtc_lab.planner.plan import plan
from tests.kit.calibrations import PATHS, calibration, measured, run_point, worker_point

if TYPE_CHECKING:
    from smtc_lab.metrics.result import Interval

HERE = Setup(trainer_cores=2.0)
GPU: dict[str, Any] = {"emulated_device_s": None, "machine": {"cores": 2.0, "gpus": ["G"]}}
_WORLDS = 600
_TAIL = 1.2815516


def width(said: Prediction) -> float:
    return said.step_time_s.high / said.step_time_s.low


def device_point(step_s: Interval) -> DevicePoint:
    return DevicePoint(batch_size=100, step_s=step_s)


def test_another_machine_has_the_wider_interval_and_says_why() -> None:
    here, elsewhere = (
        predict(calibration(), replace(HERE, has_quotas=quotas)) for quotas in (True, False)
    )

    assert (here.interval_basis, elsewhere.interval_basis) == (
        "calibrated machine",
        "extrapolation",
    )
    assert width(elsewhere) > 1.1 * width(here)
    assert elsewhere.step_time_s.mean == pytest.approx(here.step_time_s.mean)
    assert any("no step was measured on these instances" in each for each in elsewhere.cautions)
    assert not any("extrapolation" in each for each in here.cautions)


def test_a_batch_beyond_the_measured_ones_has_the_wider_interval() -> None:
    inside, beyond = (
        predict(calibration(), replace(HERE, batch_size=size)) for size in (150, 400)
    )

    assert (inside.interval_basis, beyond.interval_basis) == (
        "calibrated machine",
        "extrapolation",
    )
    assert any("with batches of 400 samples" in each for each in beyond.cautions)


def test_every_cluster_of_a_plan_says_that_its_interval_is_an_extrapolations() -> None:
    made = plan(calibration(), families=["p3", "c5"])

    assert {each.prediction.interval_basis for each in made.candidates} == {"extrapolation"}
    assert "extrapolation" in made.best.explain()


def test_a_prediction_that_was_kept_before_there_were_two_intervals_is_read() -> None:
    kept = predict(calibration(), HERE).model_dump(mode="json")
    del kept["interval_basis"]

    assert Prediction.model_validate(kept).interval_basis == "calibrated machine"


def test_a_device_time_that_is_not_identified_is_marked_where_it_matters() -> None:
    vague = calibration(
        **GPU, device_points=(device_point(intervals.measured(0.02, 0.001, 0.05)),)
    )

    bound = predict(vague, HERE)
    busy = predict(vague, replace(HERE, trainer_cores=0.5))
    given = predict(vague, replace(HERE, device_s=0.02))

    assert [each.evidence for each in (bound, busy, given)] == [
        "estimated",
        "predicted",
        "predicted",
    ]
    assert any(
        "not identified: the calibration puts it at 0.00" in each and "device_points" in each
        for each in bound.cautions
    )


def test_whole_runs_alone_are_refused_with_what_they_tell_of_the_device() -> None:
    row = calibration(**GPU, device_points=(), run_points=(run_point(1.193, 2),))

    with pytest.raises(PlannerError, match=r"at most 1.19 s a step: add device_points"):
        predict(row, HERE)


@pytest.mark.parametrize(
    ("has_quotas", "error"), [(True, MODEL_ERROR), (False, EXTRAPOLATION_ERROR)]
)
def test_four_of_five_intervals_hold_a_truth_that_is_known(
    has_quotas: bool,  # noqa: FBT001  a parameter of a test
    error: float,
) -> None:
    random = np.random.default_rng(16)
    spread, held = 0.03, 0

    def seen(truth: float) -> Interval:
        return measured(truth * np.exp(spread / _TAIL * random.standard_normal()), spread)

    for _ in range(_WORLDS):
        core_s, device_s = 0.001 * np.exp(0.3 * random.standard_normal(2)) * (1, 50)
        stages_s = np.array([100 * core_s / 2, device_s])
        softness = random.uniform(0, 1 / LEAST_DEFAULT_P)
        truth_s = p_norm(stages_s, softness) * np.exp(error * random.standard_normal())
        points = tuple(
            worker_point(core_s, path=path).model_copy(
                update={"cpu_s_per_sample": seen(core_s)}
            )
            for path in PATHS
        )
        known = calibration(
            **GPU, worker_points=points, device_points=(device_point(seen(device_s)),)
        )
        step = predict(known, replace(HERE, has_quotas=has_quotas)).step_time_s
        held += step.low <= truth_s <= step.high

    assert 0.75 <= held / _WORLDS <= 0.85
