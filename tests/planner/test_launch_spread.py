"""How far launches lie apart: estimated from a few, and part of every prediction."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from smtc_lab.planner.calibration.calibration import Calibration
from smtc_lab.planner.calibration.parts import ASSUMED_SPREAD, LaunchSpread
from smtc_lab.planner.calibration.plan import REPEATS
from smtc_lab.planner.calibration.spread import launch_spread, mean_of, next_launch
from smtc_lab.planner.model.model import MODEL_ERROR
from smtc_lab.planner.model.predict import predict
from smtc_lab.planner.model.setup import Setup
from tests.kit.calibrations import PATHS, calibration, measured, worker_point

if TYPE_CHECKING:
    from smtc_lab.planner.calibration.parts import WorkerPoint
    from smtc_lab.planner.model.prediction import Prediction

CPU_BOUND = Setup(trainer_cores=0.9, data_instances=1.0, data_cores=0.9, data_workers=1.0)
ALONE = Setup(trainer_cores=1.8, loader_workers=2.0)
DEVICE_BOUND = replace(CPU_BOUND, device_s=5.0)
FAR = LaunchSpread(cpu_sd=0.1, freedom=5.0, repeats=4)
_WORLDS = 600


def width(said: Prediction) -> float:
    return said.step_time_s.high / said.step_time_s.low


def _mean_point(point: WorkerPoint, launches_s: list[float]) -> WorkerPoint:
    """Return what a calibration makes of the CPU-seconds of a few launches."""
    mean = mean_of([measured(each, 0.0) for each in launches_s])
    return point.model_copy(update={"cpu_s_per_sample": mean, "launches": len(launches_s)})


@pytest.mark.parametrize(
    "sd",
    [
        pytest.param(0.02, marks=pytest.mark.soak),
        0.05,
        pytest.param(0.11, marks=pytest.mark.soak),
    ],
)
def test_four_of_five_intervals_hold_the_next_launch_however_far_launches_lie_apart(
    sd: float,
) -> None:
    random = np.random.default_rng(98)
    core_s, held = 0.001, 0
    truths_s = [predict(calibration(), each).step_time_s.mean for each in (CPU_BOUND, ALONE)]

    for world in range(_WORLDS):
        # one and two data workers, in process and through the service, each twice
        seen_s = core_s * np.exp(sd * random.standard_normal((4, 1 + REPEATS // 4)))
        kinds = [(path, cores) for path in PATHS for cores in (1.0, 2.0)]
        points = tuple(
            _mean_point(worker_point(core_s, cores=cores, path=path), launches)
            for (path, cores), launches in zip(kinds, seen_s.tolist(), strict=True)
        )
        known = calibration(worker_points=points, launch_spread=launch_spread(seen_s.tolist()))
        setup, truth_s = (CPU_BOUND, ALONE)[world % 2], truths_s[world % 2]
        step = predict(known, setup).step_time_s
        slowness = sd * random.standard_normal() + MODEL_ERROR * random.standard_normal()
        held += step.low <= truth_s * np.exp(slowness) <= step.high

    assert 0.75 <= held / _WORLDS <= 0.9


def test_launches_far_apart_widen_a_cpu_bound_step_and_not_a_device_bound_one() -> None:
    alike, far = calibration(), calibration(launch_spread=FAR)

    assert width(predict(far, CPU_BOUND)) > 1.2 * width(predict(alike, CPU_BOUND))
    assert width(predict(far, DEVICE_BOUND)) == pytest.approx(
        width(predict(alike, DEVICE_BOUND)), rel=0.01
    )
    assert predict(far, CPU_BOUND).step_time_s.mean == pytest.approx(
        predict(alike, CPU_BOUND).step_time_s.mean
    )


def test_a_prediction_says_what_of_launches_its_interval_holds() -> None:
    said = " ".join(predict(calibration(launch_spread=FAR), CPU_BOUND).cautions)

    assert "differ by 10 % (standard deviation), as 4 repeated ones tell" in said


def test_an_older_calibration_is_read_and_has_the_spread_that_is_assumed() -> None:
    kept = json.loads(calibration().to_json())
    del kept["launch_spread"]
    for point in kept["worker_points"]:
        del point["launches"]

    older = Calibration.from_json(json.dumps(kept))

    assert older.launch_spread is None
    assert [point.launches for point in older.worker_points] == [1] * len(PATHS)
    said = predict(older, CPU_BOUND)
    assumed = predict(calibration(launch_spread=ASSUMED_SPREAD), CPU_BOUND)
    assert said == assumed
    assert any("was not measured: the intervals assume 5 %" in each for each in said.cautions)


def test_the_whole_job_has_the_spread_of_its_steps() -> None:
    alike, far = (
        predict(calibration(launch_spread=spread), CPU_BOUND, steps=100_000)
        for spread in (LaunchSpread(cpu_sd=0.0, freedom=5.0, repeats=4), FAR)
    )

    assert alike.job_s is not None
    assert far.job_s is not None
    assert far.job_s.high > 1.1 * alike.job_s.high
    assert far.job_s.low < 0.95 * alike.job_s.low


def test_repeated_launches_are_pooled_with_one_that_is_assumed() -> None:
    found = launch_spread([[1.0, np.exp(0.2)], [3.0, 3.0], [7.0]])

    squares = 2 * 0.1**2 + ASSUMED_SPREAD.cpu_sd**2
    assert found.cpu_sd == pytest.approx(np.sqrt(squares / 3))
    assert (found.freedom, found.repeats) == (3.0, 2)


def test_launches_that_happen_to_agree_are_not_said_to_be_alike() -> None:
    assert launch_spread([[1.0, 1.0]] * REPEATS).cpu_sd > 0.02


def test_nothing_repeated_is_what_is_assumed() -> None:
    assert launch_spread([[1.0], [2.0]]) == ASSUMED_SPREAD


def test_the_interval_of_the_next_launch_holds_four_of_five() -> None:
    random = np.random.default_rng(5)
    held = 0
    for _ in range(2000):
        *seen, following = random.normal(10.0, 2.0, 6)
        interval = next_launch(seen)
        held += interval.low <= following <= interval.high

    assert held / 2000 == pytest.approx(0.8, abs=0.03)


def test_a_single_launch_has_the_interval_that_is_assumed() -> None:
    alone = next_launch([10.0])

    assert alone.mean == 10.0
    assert alone.high - 10.0 == pytest.approx(10.0 * 0.05 * 1.8856 * np.sqrt(2), rel=1e-3)


def test_the_mean_of_launches_is_surer_than_one() -> None:
    both = mean_of([measured(1.0, 0.1), measured(2.0, 0.1)])

    assert both.mean == 1.5
    assert both.high - both.mean == pytest.approx(np.hypot(0.1, 0.2) / 2)
