"""The model: stages, how they overlap, and the intervals around what they give."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from smtc_lab.errors import PlannerError
from smtc_lab.planner.calibration.parts import DevicePoint
from smtc_lab.planner.model.all_reduce import GOODPUT
from smtc_lab.planner.model.model import Model
from smtc_lab.planner.model.predict import predict
from smtc_lab.planner.model.setup import Setup
from smtc_lab.planner.model.sharpness import BARRIER_P, p_norm
from tests.kit.calibrations import calibration, measured, run_point, worker_point

if TYPE_CHECKING:
    from smtc_lab.planner.model.prediction import Prediction

VALUES = Model(calibration(), 0)


ON_GPU = {"emulated_device_s": None, "machine": {"cores": 2, "gpus": ["NVIDIA T4"]}}
"""What a calibration says that was made beside a real GPU."""


def predicted(fields: dict[str, Any] | None = None, **setup: Any) -> Prediction:
    return predict(calibration(**(fields or {})), Setup(**{"trainer_cores": 2.0, **setup}))


def step_s(**setup: Any) -> float:
    return float(VALUES.times(Setup(**{"trainer_cores": 2.0, **setup})).step_s[0, 0])


def test_cpus_alone_take_the_cpu_seconds_of_a_batch_over_their_cores() -> None:
    said = predicted()

    assert said.stages_s["cpu"] == pytest.approx(100 * 0.001 / 2)
    assert said.bottleneck == "cpu"
    assert said.step_time_s.value == pytest.approx(0.05, rel=0.01)


def test_a_data_instance_takes_work_off_the_trainer() -> None:
    said = predicted(data_instances=1.0, data_cores=6.0)

    assert said.stages_s["cpu"] == pytest.approx(100 * 0.001 / 8)


def test_more_data_workers_than_cores_are_worth_no_more_than_the_cores() -> None:
    assert step_s(loader_workers=64.0) == step_s(loader_workers=2.0)
    assert step_s(loader_workers=1.0) > 1.5 * step_s(loader_workers=2.0)


def test_a_trainer_without_data_workers_prepares_and_computes_one_after_the_other() -> None:
    said = predicted(loader_workers=0.0)

    assert said.step_time_s.value == pytest.approx(0.1 + 0.01)


def test_the_host_work_of_the_step_is_taken_from_the_data_workers_cores() -> None:
    busy = DevicePoint(batch_size=100, step_s=measured(0.01), cpu_s_per_step=measured(0.01))

    said = predicted({"device_points": (busy,), **ON_GPU})
    emulated = predicted({"device_points": (busy,)})

    assert said.stages_s["cpu"] == pytest.approx((0.1 + 0.01) / 2)
    assert emulated.stages_s["cpu"] == pytest.approx(0.1 / 2)  # it stood in for the device


def test_a_host_that_waits_for_its_device_adds_its_own_work_to_it() -> None:
    said = predicted({"serial_s_per_step": measured(0.02)}, data_instances=1.0, data_cores=90.0)

    assert said.step_time_s.value == pytest.approx(0.03, rel=0.05)
    assert said.bottleneck == "serial"


def test_a_quota_bounds_the_sum_of_a_trainers_work_and_not_its_pace() -> None:
    busy = DevicePoint(batch_size=100, step_s=measured(0.01), cpu_s_per_step=measured(0.008))

    said = predicted(
        {"device_points": (busy,), **ON_GPU},
        trainer_cores=0.4,
        loader_workers=0.0,
        data_instances=1.0,
        data_cores=90.0,
    )

    assert said.stages_s["device"] == pytest.approx(0.01)
    assert said.stages_s["cpu"] == pytest.approx(0.008 / 0.4)


def test_receiving_batches_costs_the_trainer_cpu() -> None:
    fields = {"receive_cpu_s_per_byte": 1e-6}  # 1 ms for each sample of 1,000 bytes

    said = predicted(fields, loader_workers=0.0, data_instances=1.0, data_cores=90.0)

    assert said.stages_s["cpu"] == pytest.approx(100 * 0.001 / 2)


def test_the_network_carries_what_the_trainer_does_not_prepare_itself() -> None:
    said = predicted(
        {"bytes_per_sample": 1e6},
        loader_workers=0.0,
        data_instances=2.0,
        data_cores=90.0,
        trainer_gbps=8.0,
        data_gbps=100.0,
    )

    assert said.stages_s["network"] == pytest.approx(100 * 1e6 * 8 / 8e9)
    assert said.bottleneck == "network"


def test_one_connection_carries_five_gbit_a_second() -> None:
    said = predicted(
        {"bytes_per_sample": 1e6},
        loader_workers=0.0,
        data_instances=1.0,
        data_cores=90.0,
        data_workers=1.0,
        trainer_gbps=100.0,
        data_gbps=100.0,
    )

    assert said.stages_s["network"] == pytest.approx(100 * 1e6 * 8 / 5e9)


def test_an_unknown_bandwidth_is_said_to_be_unknown() -> None:
    said = predicted(data_instances=1.0, data_cores=4.0, data_gbps=float("nan"))

    assert said.stages_s["network"] is None
    assert said.utilization["network"] is None
    assert "network is unknown" in said.unknown[0]


def test_devices_wait_for_the_gradients_that_the_backward_pass_does_not_hide() -> None:
    fields = {"gradient_bytes": 1e9, "emulated_device_s": None, "machine": {"gpus": ["G"]}}
    alone = predicted(fields, trainer_cores=90.0)
    both = predicted(fields, trainer_cores=90.0, devices=2.0, inside_gbps=80.0)

    assert alone.stages_s["device"] == pytest.approx(0.01)
    assert alone.exchange is None
    assert both.exchange is not None
    assert both.exchange.all_reduce_s == pytest.approx(1e9 / 1e10 / GOODPUT, rel=0.05)
    hidden_s = both.exchange.all_reduce_s - both.exchange.exposed_s
    assert hidden_s == pytest.approx(0.01 * 2 / 3 * 63 / 64)  # behind all pieces but the first
    assert both.stages_s["device"] == pytest.approx(0.01 + both.exchange.exposed_s)


def test_of_an_older_calibration_it_is_said_what_of_the_exchange_is_assumed() -> None:
    said = predicted({"gradient_bytes": 1e6}, devices=2.0, inside_gbps=80.0)

    assert any("are ready when is assumed" in each for each in said.cautions)
    assert any("latency" in each for each in said.cautions)
    assert any("slowest rank" in each for each in said.cautions)


def test_instances_exchange_through_their_network_and_devices_inside_do_not() -> None:
    fields = {"gradient_bytes": 1e11}

    one = predicted(fields, devices=4.0, inside_gbps=1200.0, between_gbps=10.0).exchange
    two = predicted(fields, devices=2.0, trainers=2.0, inside_gbps=1200.0, between_gbps=10.0)

    assert one is not None
    assert two.exchange is not None
    assert two.exchange.all_reduce_s / one.all_reduce_s == pytest.approx(120, rel=0.1)


def test_a_gpu_and_the_host_that_feeds_it_overlap() -> None:
    fields = {"emulated_device_s": None, "machine": {"gpus": ["G"]}}
    fields |= {"serial_s_per_step": measured(0.002)}

    assert predicted(fields, trainer_cores=90.0).step_time_s.value < 0.0115


def test_a_cpu_that_computes_the_step_has_less_left_for_data() -> None:
    said = predicted({"emulated_device_s": None})

    assert said.stages_s["cpu"] == pytest.approx((0.1 + 0.01 * 2) / 2)


def test_the_device_time_between_two_batch_sizes_is_affine() -> None:
    points = tuple(
        DevicePoint(batch_size=size, step_s=measured(time_s))
        for size, time_s in ((100, 0.01), (200, 0.018))
    )

    said = predicted({"device_points": points}, batch_size=150)
    beyond = predicted({"device_points": points}, batch_size=400)

    assert said.stages_s["device"] == pytest.approx(0.014)
    assert (said.evidence, beyond.evidence) == ("predicted", "extrapolated")


def test_another_batch_size_than_the_only_measured_one_is_refused() -> None:
    points = (DevicePoint(batch_size=100, step_s=measured(0.01)),)

    with pytest.raises(PlannerError, match=r"batch_size=300 is not known.*at 100 only"):
        predicted({"device_points": points}, batch_size=300)


@pytest.mark.parametrize("missing", ["device_points", "worker_points"])
def test_a_calibration_without_points_says_which_are_missing(missing: str) -> None:
    with pytest.raises(PlannerError, match=rf"has no {missing} \(It failed.*Calibrate again"):
        predicted({missing: (), "problems": ("It failed.",)})


def test_a_data_group_that_was_not_calibrated_is_refused() -> None:
    with pytest.raises(PlannerError, match="path 'service'"):
        predicted({"worker_points": (worker_point(0.001),)}, data_instances=1.0, data_cores=2.0)


def test_fewer_busy_cores_take_less_cpu_time_for_a_sample_where_that_was_measured() -> None:
    points = (worker_point(0.0008, cores=1.0), worker_point(0.001, cores=2.0))

    one = predicted({"worker_points": points}, loader_workers=1.0).stages_s["cpu"]

    assert one == pytest.approx(100 * 0.0008)


@given(
    cores=st.tuples(st.floats(0.1, 200.0), st.floats(0.1, 200.0)),
    counts=st.tuples(st.integers(0, 32), st.integers(1, 200)),
    gbps=st.floats(0.01, 100.0),
    more=st.floats(1.0, 10.0),
)
def test_more_cpu_or_network_is_never_slower(
    cores: tuple[float, float], counts: tuple[int, int], gbps: float, more: float
) -> None:
    setup = {
        "trainer_cores": cores[0],
        "loader_workers": float(counts[1]),
        "data_instances": float(counts[0]),
        "data_cores": cores[1],
        "trainer_gbps": gbps,
        "data_gbps": gbps,
        "trainer_speed": 1.0,
    }
    rows = [setup, {**setup, "data_instances": counts[0] + 1.0}]
    rows += [{**setup, name: value * more} for name, value in setup.items()]

    columns = {name: np.array([row[name] for row in rows]) for name in setup}
    times = VALUES.times(Setup(**columns)).step_s[:, 0]

    assert (times[1:] <= times[0] * (1 + 1e-9)).all()


def test_several_setups_at_once_are_predicted_as_each_alone() -> None:
    together = VALUES.times(
        Setup(
            trainer_cores=np.array([1.0, 4.0]),
            data_instances=np.array([0.0, 3.0]),
            data_cores=np.array([0.0, 2.0]),
        )
    ).step_s[:, 0]

    assert together[0] == pytest.approx(step_s(trainer_cores=1.0))
    assert together[1] == pytest.approx(
        step_s(trainer_cores=4.0, data_instances=3.0, data_cores=2.0)
    )


def test_a_wider_measurement_makes_a_wider_interval() -> None:
    narrow = predicted().step_time_s
    points = tuple(
        worker_point(0.001).model_copy(update={"cpu_s_per_sample": measured(0.001, 0.3)})
        for _ in range(1)
    )
    wide = predicted({"worker_points": points}).step_time_s

    assert narrow.low < narrow.value < narrow.high
    assert wide.high - wide.low > 3 * (narrow.high - narrow.low)


def test_a_prediction_is_the_same_each_time() -> None:
    assert predicted() == predicted()


def test_a_fit_to_one_trainer_process_says_nothing_of_several() -> None:
    fields = {"emulated_device_s": None, "machine": {"cores": 2.0, "gpus": ["G"]}}
    fields["device_points"] = (DevicePoint(batch_size=100, step_s=measured(0.05)),)
    stages_s = np.array([[0.1, 0.05], [0.05, 0.05], [0.05, 0.05]])
    runs_s = p_norm(stages_s, np.array(1 / 2.5))
    fields["run_points"] = tuple(run_point(each, n) for n, each in enumerate(runs_s, start=1))

    one = predicted(fields).step_time_s.value
    four = predicted(fields, trainer_cores=8.0, devices=4.0).step_time_s.value

    assert one == pytest.approx(0.05 * 2 ** (1 / 2.5), rel=0.05)
    assert four == pytest.approx(0.05 * 2 ** (1 / BARRIER_P), rel=0.01)


def test_workers_that_a_quota_holds_back_take_more_cpu_time_for_a_sample() -> None:
    points = (
        worker_point(0.001, cores=1.0),
        worker_point(0.001, cores=2.0),
        worker_point(0.0012, cores=0.5),
    )

    cpu_s = {
        cores: predicted(
            {"worker_points": points}, trainer_cores=cores, loader_workers=1.0
        ).stages_s["cpu"]
        for cores in (0.5, 0.8, 1.0)
    }

    assert cpu_s[0.5] == pytest.approx(100 * 0.0012 / 0.5)
    assert cpu_s[0.8] == pytest.approx(100 * 0.00105 / 0.8)
    assert cpu_s[1.0] == pytest.approx(100 * 0.001)


def test_a_declared_device_works_as_declared_and_the_host_takes_what_was_measured_beyond() -> (
    None
):
    points = (DevicePoint(batch_size=100, step_s=measured(0.012)),)

    said = predicted({"device_points": points}, device_s=0.05)

    assert said.stages_s["device"] == pytest.approx(0.05)
    assert said.stages_s["serial"] == pytest.approx(0.002)
    assert said.step_time_s.mean >= 0.052
    assert said.utilization["device"] == pytest.approx(0.05 / said.step_time_s.mean)
