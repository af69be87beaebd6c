"""Advice in the order an engineer would try it, explanations, jobs, and the closed form."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from smtc_lab.metrics.finding import Finding
from smtc_lab.planner.calibration.parts import DevicePoint
from smtc_lab.planner.interruptions import Interruptions
from smtc_lab.planner.model.predict import predict
from smtc_lab.planner.model.setup import Setup
from smtc_lab.planner.plan import Plan, plan
from tests.kit.calibrations import PATHS, calibration, measured, worker_point
from tests.planner.event_by_event import played_step_s

if TYPE_CHECKING:
    from smtc_lab.planner.planned_cluster import PlannedCluster
    from tests.kit.golden_texts import GoldenTexts

HEAVY = {"worker_points": tuple(worker_point(0.02, path=path) for path in PATHS)}


def planned(fields: dict[str, Any] | None = None, **limits: Any) -> Plan:
    families = ["g5", "c5"]
    return plan(calibration(**(HEAVY | (fields or {}))), families=families, **limits)


def explained(made: PlannedCluster) -> str:
    """Return the explanation without its price, which grows old."""
    return "\n".join(made.explain().splitlines()[:-1])


def test_advice_begins_with_what_costs_nothing(golden_texts: GoldenTexts) -> None:
    advice = planned().cluster("t=ml.g5.4xlarge", num_loader_workers=4).advice()

    assert [each.kind for each in advice] == [
        "workers",
        "larger_size",
        "data_group",
        "transforms",
    ]
    assert advice[1].cluster is not None
    assert advice[1].cluster.instance_groups[0].instance_type.startswith("ml.g5.")
    assert advice[2].cluster is not None
    assert advice[2].cluster.is_heterogeneous
    assert advice[3].evidence == "at most"
    golden_texts("plan", {each.kind: f"{each.sentence}\n{each.fix}" for each in advice})
    assert isinstance(advice[0], Finding)
    assert advice[0].cost is not None
    assert advice[0].cost.fraction == pytest.approx(1 - 1 / (advice[0].speedup or 0))


@pytest.mark.parametrize("own", [0, 1, 2, 4])
def test_a_script_is_predicted_with_its_own_data_workers(
    golden_texts: GoldenTexts, own: int
) -> None:
    """A sample takes 20 ms of CPU, a batch of 100 two seconds, on 16 vCPUs of 8 cores."""
    scripts, told = planned({"script_num_workers": own}), planned()

    alone = scripts.cluster("t=ml.g5.4xlarge")

    same = told.cluster("t=ml.g5.4xlarge", num_loader_workers=own)
    assert alone.prediction.step_time_s == same.prediction.step_time_s
    fed = "t=ml.g5.4xlarge,d=ml.c5.9xlarge:4"
    beside = told.cluster(fed, num_loader_workers=own)
    assert scripts.cluster(fed).prediction == beside.prediction
    advice = alone.advice()
    assert advice[0].prediction is not None
    assert advice[0].prediction.step_time_s == (
        told.cluster("t=ml.g5.4xlarge").prediction.step_time_s
    )
    golden_texts(
        "plan", {"bound": alone.explain().splitlines()[0], "advice": advice[0].sentence}
    )


def test_no_instance_is_added_where_more_data_workers_are_enough() -> None:
    light = {"worker_points": tuple(worker_point(0.0005, path=path) for path in PATHS)}
    made = planned({"script_num_workers": 1} | light).cluster("t=ml.g5.4xlarge")

    assert made.prediction.bottleneck == "cpu"
    assert [each.kind for each in made.advice()] == ["workers", "transforms"]
    best = planned({"script_num_workers": 1} | light).best
    assert not best.candidate.is_heterogeneous


def test_each_advice_tells_its_gain_and_its_cost() -> None:
    made = planned().cluster("t=ml.g5.4xlarge")
    (group,) = [each for each in made.advice() if each.kind == "data_group"]

    assert group.prediction is not None
    assert group.speedup == pytest.approx(
        made.prediction.step_time_s.value / group.prediction.step_time_s.value
    )
    assert group.saving_fraction is not None
    assert group.saving_fraction > 0


def test_one_worker_for_each_core_is_not_told_to_have_more() -> None:
    kinds = [each.kind for each in planned().cluster("t=ml.g5.4xlarge").advice()]

    assert "workers" not in kinds


def test_a_device_bound_cluster_is_told_of_the_step_itself(golden_texts: GoldenTexts) -> None:
    points = tuple(
        DevicePoint(batch_size=size, step_s=measured(time_s))
        for size, time_s in ((100, 5.0), (200, 6.0))
    )
    gpu = {"emulated_device_s": None, "machine": {"cores": 2.0, "gpus": ["NVIDIA A10G"]}}
    made = planned({"device_points": points, **gpu}).cluster("t=ml.g5.8xlarge")

    assert [each.kind for each in made.advice()] == ["batch_size", "compile"]
    assert made.advice()[0].speedup == pytest.approx(2 * 5 / 6, rel=0.02)
    assert made.advice()[1].evidence == "unknown"
    assert made.prediction.bottleneck == "device"
    golden_texts("plan", {"explained": explained(made)})


def test_a_declared_device_time_says_nothing_of_larger_batches() -> None:
    points = (DevicePoint(batch_size=100, step_s=measured(5.0)),)
    made = planned({"device_points": points, "emulated_device_s": 5.0})

    assert [each.kind for each in made.cluster("t=ml.g5.8xlarge").advice()] == ["compile"]


def test_an_explanation_says_what_bounds_a_step_and_what_the_data_group_does(
    golden_texts: GoldenTexts,
) -> None:
    fed = planned().cluster("t=ml.g5.4xlarge,d=ml.c5.9xlarge:3")
    light = {"worker_points": tuple(worker_point(0.0005, path=path) for path in PATHS)}
    enough = planned({"script_num_workers": 16} | light).cluster("t=ml.g5.4xlarge")

    assert "2026-" in fed.explain().splitlines()[-1]
    golden_texts("plan", {"fed": explained(fed), "enough workers": explained(enough)})


def test_the_best_cluster_becomes_a_job_with_its_emulated_device() -> None:
    made = planned(steps=500)
    job = made.best.job(job_name="planned")

    assert job.cluster == made.best.candidate.cluster
    assert (job.entry_point, job.max_steps, job.job_name) == ("train.py", 500, "planned")
    assert job.hyperparameters == {"batch_size": 100}
    assert job.emulation is not None
    assert job.emulation.device_step_time_s == 0.01


def test_a_measured_device_makes_a_job_without_emulation() -> None:
    fields = {"emulated_device_s": None, "machine": {"cores": 2.0, "gpus": ["NVIDIA A10G"]}}

    assert planned(fields).best.job().emulation is None


@pytest.mark.parametrize("device_s", [0.02, 0.05, 0.2])
@pytest.mark.parametrize("data_cores", [0.0, 4.0])
def test_the_closed_form_agrees_with_a_run_that_is_played_event_by_event(
    device_s: float, data_cores: float
) -> None:
    points = (DevicePoint(batch_size=100, step_s=measured(device_s)),)
    found = calibration(device_points=points)
    setup = Setup(
        trainer_cores=2.0, data_instances=float(data_cores > 0), data_cores=data_cores
    )

    played = played_step_s(found, setup, steps=300)

    # The p-norm also stands for drifting speeds and shared cores, which are not played.
    assert 0.84 <= played / predict(found, setup).step_time_s.value <= 1.03


def test_a_job_is_played_with_the_interruptions_of_its_plan() -> None:
    often = Interruptions(mean_time_between_s=60.0, checkpoint_s=0.1, restart_s=5.0)
    calm = planned(steps=1000).cluster("t=ml.g5.xlarge").simulate_job_s()
    stormy = planned(steps=1000, interruptions=often).cluster("t=ml.g5.xlarge")

    assert calm is not None
    assert (stormy.simulate_job_s(seed=1) or 0) > calm + 5.0
    assert planned().best.simulate_job_s() is None
