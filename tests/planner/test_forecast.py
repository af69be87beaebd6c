"""What a comparison would show: the very numbers that its launches are predicted with."""

from __future__ import annotations

import dataclasses
import json
import math
import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from smtc_lab.catalog.catalog import Catalog
from smtc_lab.catalog.own_cpu_speed import OwnCpuSpeed
from smtc_lab.launchers import dilation
from smtc_lab.launchers.plan_file import plan_text
from smtc_lab.machine.cores import available_cores
from smtc_lab.metrics.cost import usd_per_1000_steps
from smtc_lab.planner.forecast import forecast as forecasting
from smtc_lab.planner.forecast.calibrated import CalibratedModel
from smtc_lab.planner.forecast.exchanges import FEEDER
from smtc_lab.planner.forecast.forecast import Foreseen, forecast
from smtc_lab.planner.forecast.launched import AskedSetUp
from smtc_lab.planner.model.predict import predict
from smtc_lab.planner.run_prediction import _setup
from smtc_lab.spec.cluster import LOCAL, Cluster, InstanceGroup
from smtc_lab.spec.compiler import TrainingCompilerConfig
from smtc_lab.spec.distribution import Distribution
from smtc_lab.spec.emulation import EmulatedLink, Emulation
from smtc_lab.spec.job import TrainingJob
from smtc_lab.study.comparison.plan import plan_comparison
from tests.kit.calibrations import (
    calibration,
    keep_calibration,
    measured,
    worker_point,
)

if TYPE_CHECKING:
    from pathlib import Path

    from smtc_lab.planner.calibration.calibration import Calibration

CATALOG = Catalog.load()
CORES = available_cores()
DEVICE = Emulation(device_step_time_s=0.03)
EMULATED = calibration(end_s=measured(2.0), gradient_bytes=3e7)
REAL = calibration(emulated_device_s=None)
TYPES = ("ml.p3.2xlarge", "ml.p4d.24xlarge", "ml.g4dn.xlarge", "ml.c5.9xlarge", "ml.c5.xlarge")


@pytest.fixture(autouse=True)
def speed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Say how fast this machine is, in the place of a benchmark."""
    for module in (dilation, forecasting):
        monkeypatch.setattr(
            module, "own_cpu_speed", lambda: OwnCpuSpeed(value=1.6, rate=1130.0)
        )


def asked(
    cluster: str | Cluster, emulation: Emulation | None = DEVICE, **fields: Any
) -> AskedSetUp:
    cluster = Cluster.parse(cluster) if isinstance(cluster, str) else cluster
    is_here = all(group.instance_type == LOCAL for group in cluster.instance_groups)
    emulation = emulation or Emulation()
    job = TrainingJob(
        entry_point="train.py",
        cluster=cluster,
        emulation=None if is_here else emulation,
        **({"max_steps": 32} | fields),
    )
    return AskedSetUp(job=job, emulation=emulation)


def foreseen(
    *set_ups: AskedSetUp, known: Calibration = EMULATED, cores: float = CORES
) -> list[Foreseen]:
    model = CalibratedModel(known)
    found = forecast(set_ups, [model] * len(set_ups), CATALOG, cores=cores)
    assert [each for each in found if isinstance(each, str)] == []
    return [each for each in found if not isinstance(each, str)]


def problems(*set_ups: AskedSetUp, known: Calibration | None = EMULATED) -> list[str]:
    model = None if known is None else CalibratedModel(known)
    found = forecast(set_ups, [model] * len(set_ups), CATALOG, cores=2.0)
    return [each if isinstance(each, str) else "predicted" for each in found]


def column(name: str) -> int:
    return CATALOG.names().index(name)


@st.composite
def set_ups(draw: st.DrawFn) -> AskedSetUp:
    """Return a set-up that the model knows and this machine can launch."""
    trains = draw(st.sampled_from(TYPES))
    groups = [InstanceGroup("train", trains, draw(st.integers(1, 4)), role="train")]
    data = draw(st.sampled_from((None, *TYPES)))
    groups += [
        InstanceGroup(f"data{number}", data, draw(st.integers(1, 3)), role="data")
        for number in range(0 if data is None else draw(st.integers(1, 2)))
    ]
    emulation = Emulation(
        device_step_time_s=draw(st.sampled_from((0.01, 0.03, 0.2))),
        time_dilation=draw(st.sampled_from((None, None, 900.0))),
        relative_cpu_speed=draw(st.sampled_from(({}, {"c5": 2.0}))),
        link=draw(st.sampled_from((None, EmulatedLink(), EmulatedLink(between_gbps=1)))),
    )
    return asked(
        Cluster(instance_groups=tuple(groups), name=draw(st.uuids()).hex),
        emulation,
        distribution=draw(st.sampled_from((None, Distribution()))),
        num_loader_workers=draw(st.sampled_from((None, 0, 1, 4))),
        num_data_workers=draw(st.sampled_from((None, 1, 4))),
    )


@pytest.mark.parametrize("own", [0, 2])
def test_a_script_has_its_own_data_workers_beside_a_data_group_too(own: int) -> None:
    clusters = ("a=ml.p3.2xlarge:1", "a=ml.p3.2xlarge:1,b=ml.c5.9xlarge:1")
    known = calibration(script_num_workers=own)

    found = foreseen(*map(asked, clusters), known=known)

    assert [float(np.asarray(each.setup.loader_workers).item()) for each in found] == [own] * 2


@settings(
    deadline=None, max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(compared=st.lists(set_ups(), min_size=1, max_size=3))
def test_it_is_what_the_launches_of_the_comparison_are_predicted_with(
    compared: list[AskedSetUp], tmp_path: Path
) -> None:
    script = tmp_path / "train.py"
    script.write_text("", encoding="utf-8")
    jobs = [each.job.model_copy(update={"entry_point": str(script)}) for each in compared]
    # a launch decides by the calibration that is kept where it is forecast
    keep_calibration(jobs[0], tmp_path, end_s=EMULATED.end_s, gradient_bytes=3e7)

    found = foreseen(*compared)

    made_plan = plan_comparison(jobs, rounds=1, root=tmp_path)
    for launch, one in zip(made_plan.launches, found, strict=True):
        setup = _setup(EMULATED, launch.job, json.loads(plan_text(launch)))
        predicted = predict(EMULATED, setup, steps=32)
        made = one.prediction
        for ends in ("mean", "low", "high"):
            expected = getattr(predicted.step_time_s, ends)
            assert getattr(made.step_time_s, ends) == pytest.approx(expected, rel=1e-9)
        assert made.stages_s == pytest.approx(predicted.stages_s, rel=1e-9)
        assert (made.bottleneck, made.evidence) == (predicted.bottleneck, predicted.evidence)
        assert made.usd_per_hour == launch.usd_per_hour
        cost = usd_per_1000_steps(
            step_time_s=predicted.step_time_s, usd_per_hour=launch.usd_per_hour
        )
        assert cost is not None
        assert made.usd_per_1000_steps is not None
        assert made.usd_per_1000_steps.mean == pytest.approx(cost.mean, rel=1e-9)
        assert one.job_s is not None
        assert one.job_s.mean == pytest.approx(32 * predicted.step_time_s.mean)


@settings(deadline=None, max_examples=25)
@given(compared=st.lists(set_ups(), min_size=1, max_size=3), data=st.data())
def test_a_type_in_the_place_of_a_group_is_what_it_would_be_if_it_were_chosen(
    compared: list[AskedSetUp], data: st.DataObject
) -> None:
    first, *others = compared
    groups = first.job.cluster.instance_groups
    place = data.draw(st.integers(0, len(groups) - 1))
    name = data.draw(st.sampled_from((groups[place].instance_type, *TYPES)))
    chosen = groups[place].model_copy(update={"instance_type": name})
    cluster = Cluster(instance_groups=(*groups[:place], chosen, *groups[place + 1 :]))
    changed = dataclasses.replace(first, job=first.job.model_copy(update={"cluster": cluster}))

    offer = foreseen(*compared)[0].of_groups[place]

    model = CalibratedModel(EMULATED)
    made, *_ = forecast([changed, *others], [model] * len(compared), CATALOG, cores=CORES)
    step_s, usd = (each[column(name)] for each in (offer.step_s, offer.usd_per_1000_steps))
    if isinstance(made, str):
        assert math.isnan(step_s)
        return
    cost = made.prediction.usd_per_1000_steps
    assert step_s == pytest.approx(made.prediction.step_time_s.mean, rel=1e-9)
    assert usd == pytest.approx(math.nan if cost is None else cost.mean, rel=1e-9, nan_ok=True)


def test_a_larger_set_up_beside_one_changes_nothing_of_it() -> None:
    small = asked("small@a=ml.p3.2xlarge:1")
    large = asked("large@a=ml.p4d.24xlarge:1,b=ml.c5.18xlarge:4")

    alone, beside = foreseen(small, cores=2.0)[0], foreseen(small, large, cores=2.0)[0]

    assert beside.prediction == alone.prediction


def test_an_empty_place_brings_what_a_data_group_would() -> None:
    alone = asked("one@a=ml.p3.2xlarge:1")
    fed = asked(f"one@a=ml.p3.2xlarge:1,b={FEEDER}:1")

    (before,), (after,) = foreseen(alone), foreseen(fed)

    assert before.with_data.step_s[0] == pytest.approx(after.prediction.step_time_s.mean)
    assert np.isnan(after.with_data.step_s[0])
    assert before.with_data.step_s[0] < before.prediction.step_time_s.mean


def test_a_type_whose_accelerator_would_make_a_feeder_train_is_not_offered() -> None:
    (made,) = foreseen(asked("fed@a=ml.p3.2xlarge:1,b=ml.c5.9xlarge:1"))

    trainer, data = made.of_groups
    assert np.isnan(data.step_s[column("ml.g4dn.xlarge")])
    assert np.isfinite(data.step_s[column("ml.c5.xlarge")])
    assert np.isnan(trainer.step_s[column("ml.c5.xlarge")])
    # both train then, and groups of one type are one
    assert np.isfinite(data.step_s[column("ml.p3.2xlarge")])


def test_a_cluster_of_this_machine_is_not_emulated_and_costs_nothing_known() -> None:
    (made,) = foreseen(asked("here@a=local:1", Emulation()), known=REAL)

    assert made.prediction.usd_per_1000_steps is None
    assert made.job_s == made.prediction.job_s
    assert made.setup.trainer_cores == CORES
    offered = made.of_groups[0].step_s[column("ml.p3.2xlarge")]
    (emulated,) = foreseen(asked("there@a=ml.p3.2xlarge:1", Emulation()), known=REAL)
    assert offered == pytest.approx(emulated.prediction.step_time_s.mean)


def test_types_are_not_offered_for_another_kind_of_device_than_was_calibrated() -> None:
    (made,) = foreseen(asked("here@a=local:1", DEVICE), known=REAL)

    assert np.isnan(made.of_groups[0].step_s).all()


def test_start_up_and_end_of_an_emulated_job_are_on_another_scale_and_not_its_cost() -> None:
    (made,) = foreseen(asked("one@a=ml.p3.2xlarge:1"))

    parts = made.prediction.parts
    assert parts is not None
    assert made.job_s == parts.steps_s
    assert made.usd_per_job == parts.steps_usd
    slower = max(1.0, 8 / (0.5 * CORES * 1.6))  # only steps are slowed down here
    here_s = parts.whole_s.mean + (slower - 1) * parts.steps_s.mean
    assert made.whole_s == pytest.approx(here_s)


def test_who_prepares_the_samples_is_told_where_the_model_knows_it() -> None:
    fast = Emulation(device_step_time_s=1e-4)
    fed, own, both = foreseen(
        asked("fed@a=ml.p3.2xlarge:1,b=ml.c5.9xlarge:1", fast, num_loader_workers=0),
        asked("own@a=ml.p3.2xlarge:1", fast),
        asked("both@a=ml.p3.2xlarge:1,b=ml.c5.9xlarge:1", fast, num_loader_workers=1),
    )

    assert fed.cpu.data_share == 1.0
    assert fed.cpu.data_fraction == pytest.approx(1.0, abs=0.01)
    assert own.cpu.data_share is None
    assert own.cpu.data_fraction is None
    assert own.cpu.trainer_fraction == pytest.approx(1.0, abs=0.01)
    assert both.prediction.bottleneck == "cpu"
    assert both.cpu.data_share is not None
    assert 0 < both.cpu.data_share < 1


def test_who_prepares_the_samples_is_unknown_where_the_device_bounds_both() -> None:
    slow = Emulation(device_step_time_s=100.0)

    (made,) = foreseen(
        asked("both@a=ml.p3.2xlarge:1,b=ml.c5.9xlarge:1", slow, num_loader_workers=1)
    )

    assert made.prediction.bottleneck == "device"
    assert (made.cpu.trainer_fraction, made.cpu.data_fraction, made.cpu.data_share) == (
        None,
        None,
        None,
    )


@pytest.mark.parametrize(
    ("cluster", "said"),
    [
        ("two@a=ml.p3.2xlarge:1,b=ml.p3.8xlarge:1", r"2 groups that train.*Give them one type"),
        (
            "two@a=ml.p3.2xlarge:1,b=ml.c5.xlarge:1,c=ml.m5.xlarge:1",
            r"2 groups that prepare data on ml.c5.xlarge and ml.m5.xlarge.*one type",
        ),
        (
            "own@a=ml.p3.2xlarge:1,b=ml.c5.xlarge:1:script",
            r"group 'b', which runs the script.*Launch it",
        ),
        ("many@a=ml.p3.2xlarge:251", r"251 instances, but one machine can stand in for 250"),
        ("none@a=ml.c5.xlarge:1:data", r"would train"),
        ("new@a=ml.p99.xlarge:1", r"'ml.p99.xlarge' is not one of"),
    ],
)
def test_what_the_model_does_not_know_is_said_with_what_to_do(cluster: str, said: str) -> None:
    if cluster.startswith("none"):
        with pytest.raises(ValueError, match=said):
            asked(cluster)
        return
    good = asked("good@a=ml.p3.2xlarge:1")

    problem, other = problems(asked(cluster), good)

    assert re.search(said, problem)
    assert other == "predicted"


def test_a_scale_of_its_own_that_does_not_fit_is_said() -> None:
    large = Emulation(device_step_time_s=0.03, time_dilation=2.0)

    (problem,) = problems(asked("one@a=ml.p3.2xlarge:1", large))

    assert "the instances need 2.50 cores" in problem
    assert "Raise time_dilation to 5" in problem


def test_a_set_up_without_a_calibration_has_no_problem_of_its_own() -> None:
    assert problems(asked("one@a=ml.p3.2xlarge:1"), known=None) == [""]


def test_a_calibration_without_the_service_predicts_no_data_group() -> None:
    lone = calibration(worker_points=(worker_point(0.001),))
    alone = asked("one@a=ml.p3.2xlarge:1")
    fed = asked("two@a=ml.p3.2xlarge:1,b=ml.c5.9xlarge:1")

    assert "path 'service'" in problems(fed, known=lone)[0]
    (made,) = foreseen(alone, known=lone)
    assert np.isnan(made.with_data.step_s[0])
    assert np.isfinite(made.of_groups[0].step_s[column("ml.p3.8xlarge")])


def test_a_calibration_of_another_compiler_is_a_caution() -> None:
    compiled = TrainingCompilerConfig(backend="inductor")

    (made,) = foreseen(asked("one@a=ml.p3.2xlarge:1", compiler_config=compiled))

    assert any("compiled here, and was not" in each for each in made.prediction.cautions)


@pytest.mark.parametrize("core_s", [1e300, 1e-300])
def test_numbers_that_no_machine_measures_break_nothing(core_s: float) -> None:
    absurd = calibration(
        worker_points=(worker_point(core_s), worker_point(core_s, path="service")),
        bytes_per_sample=1e308,
    )
    fed, alone = (
        asked("two@a=ml.p3.2xlarge:1,b=ml.c5.9xlarge:1"),
        asked("one@a=ml.p3.2xlarge:1"),
    )

    found = problems(fed, alone, known=absurd)

    assert all(found)


def test_a_distribution_has_as_many_ranks_as_its_launch_would_have() -> None:
    known = calibration(gradient_bytes=1e8)
    one, four = foreseen(
        asked("train=ml.g4dn.12xlarge:1"),
        asked("train=ml.g4dn.12xlarge:1", distribution="auto"),
        known=known,
    )

    assert (np.max(one.setup.devices), np.max(four.setup.devices)) == (1, 4)
    assert one.prediction.exchange is None
    # four trainers share the CPUs that one had to itself
    assert four.prediction.step_time_s.mean > one.prediction.step_time_s.mean


def test_trainers_that_do_not_fit_are_refused_as_a_launch_refuses_them() -> None:
    known = CalibratedModel(EMULATED)
    wrong = asked("train=ml.p3.16xlarge:1", distribution={"data": 3})

    found = forecast([wrong], [known], CATALOG, cores=CORES)

    assert "distribution" in str(found[0])
