"""The scale of an emulation: one vCPU does the same work on every machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smtc_lab.catalog.catalog import Catalog
from smtc_lab.catalog.own_cpu_speed import OwnCpuSpeed
from smtc_lab.errors import SmtcLabError
from smtc_lab.launchers import scale
from smtc_lab.launchers.local import plan
from smtc_lab.launchers.scale import (
    at_scale,
    common_scale,
    emulation_facts,
    fitting_scale,
    speed_units,
)
from smtc_lab.spec.cluster import Cluster
from smtc_lab.spec.emulation import STANDARD_SCALE, Emulation
from smtc_lab.spec.job import TrainingJob

if TYPE_CHECKING:
    from collections.abc import Callable

    from smtc_lab.launchers.local.launcher import LocalLauncher

    MakeJob = Callable[..., TrainingJob]

CATALOG = Catalog.load()
SMALL = "dnn_group=ml.p3.2xlarge:1"
LARGE = "dnn_group=ml.p4d.24xlarge:1,data_group=ml.c5.18xlarge:2"


def job(cluster: str = SMALL, emulation: Emulation | None = None) -> TrainingJob:
    return TrainingJob(
        entry_point="train.py",
        cluster=Cluster.parse(cluster),
        emulation=emulation or Emulation(device_step_time_s=0.03),
    )


@pytest.fixture
def speed(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Return what makes this machine so fast."""

    def be(value: float) -> None:
        made = OwnCpuSpeed(value=value, rate=700.0)
        monkeypatch.setattr(scale, "own_cpu_speed", lambda: made)
        monkeypatch.setattr(scale, "known_cpu_speed", lambda: made)

    return be


def refuse() -> OwnCpuSpeed:
    raise SmtcLabError("This machine was measured.")


@pytest.mark.parametrize("value", [0.7, 1.0, 3.0])
@pytest.mark.parametrize("cores", [2.0, 64.0])
def test_a_vcpu_does_the_same_work_on_every_machine(
    value: float, cores: float, speed: Callable[[float], None]
) -> None:
    speed(value)

    cores_per_vcpu = common_scale([job()], CATALOG, cores=cores)

    assert cores_per_vcpu * value == pytest.approx(STANDARD_SCALE)


@pytest.mark.parametrize("value", [0.7, 3.0])
@pytest.mark.parametrize("cores", [1.0, 2.0, 64.0])
def test_device_and_vcpus_slow_down_alike_where_a_cluster_does_not_fit(
    value: float, cores: float, speed: Callable[[float], None]
) -> None:
    """Their ratio depends on device time times the work of a vCPU per second."""
    speed(value)

    made = at_scale(job(LARGE), common_scale([job(LARGE)], CATALOG, cores=cores)).emulation

    assert made is not None
    assert made.cores_per_vcpu is not None
    assert made.device_step_time_s == 0.03
    assert made.stretched_device_s is not None
    work = made.cores_per_vcpu * value
    assert made.stretched_device_s * work == pytest.approx(0.03 * STANDARD_SCALE)
    assert made.cores_per_vcpu * speed_units(job(LARGE), CATALOG) <= cores / 2 + 1e-9


def test_another_cluster_in_the_comparison_leaves_the_ratio_of_two_alone(
    speed: Callable[[float], None],
) -> None:
    speed(1.0)
    alone = common_scale([job()], CATALOG, cores=2.0)
    beside = common_scale([job(), job(LARGE)], CATALOG, cores=2.0)

    first, second = (at_scale(job(), each).emulation for each in (alone, beside))

    assert first is not None
    assert second is not None
    assert first.time_stretch == 1 < second.time_stretch
    assert second.time_stretch == pytest.approx(alone / beside)


def test_what_is_given_is_taken_as_it_is(
    monkeypatch: pytest.MonkeyPatch, make_job: MakeJob, launcher: LocalLauncher
) -> None:
    monkeypatch.setattr(scale, "own_cpu_speed", refuse)
    given_scale = Emulation(cores_per_vcpu=0.01, device_step_time_s=0.03)

    planned = launcher.plan(make_job("", emulation=given_scale))

    assert planned.job.emulation == given_scale
    assert planned.instances[0].cpu_quota_cores == pytest.approx(0.08)


@pytest.mark.parametrize(
    ("cluster", "emulation"), [(SMALL, None), ("here=local:1", Emulation())]
)
def test_where_no_instance_is_emulated_nothing_is_benchmarked(
    cluster: str,
    emulation: Emulation | None,
    monkeypatch: pytest.MonkeyPatch,
    make_job: MakeJob,
    launcher: LocalLauncher,
) -> None:
    monkeypatch.setattr(scale, "own_cpu_speed", refuse)

    planned = launcher.plan(make_job("", cluster=cluster, emulation=emulation))

    assert planned.instances[0].cpu_quota_cores is None


def test_a_run_keeps_the_speed_of_its_machine_and_how_it_was_measured(
    speed: Callable[[float], None],
    monkeypatch: pytest.MonkeyPatch,
    make_job: MakeJob,
    launcher: LocalLauncher,
) -> None:
    speed(2.0)
    monkeypatch.setattr(plan, "available_cores", lambda: 2.0)

    planned = launcher.plan(
        make_job("", cluster=LARGE, emulation=Emulation(device_step_time_s=0.03))
    )

    facts = planned.facts
    assert facts["cpu_speed"] == 2.0
    assert facts["cpu_rate"] == 700.0
    assert facts["cpu_benchmark_version"] == 2
    assert facts["device_step_time_s"] == 0.03
    assert facts["time_stretch"] > 1
    assert sum(each.cpu_quota_cores or 0 for each in planned.instances) == pytest.approx(1.0)
    assert emulation_facts(planned.job) == {
        name: facts[name] for name in emulation_facts(job())
    }


@given(cores=st.floats(0.5, 256.0))
def test_the_largest_job_of_a_comparison_decides_what_fits(cores: float) -> None:
    both = fitting_scale([job(), job(LARGE)], CATALOG, cores=cores)

    assert both == fitting_scale([job(LARGE)], CATALOG, cores=cores)
    assert both < fitting_scale([job()], CATALOG, cores=cores)
