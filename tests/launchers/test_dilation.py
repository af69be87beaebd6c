"""The time dilation of an emulation: everything of a cluster slows down by one factor."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from smtc_lab.catalog.catalog import Catalog
from smtc_lab.catalog.cpu_speed import relative_cpu_speed
from smtc_lab.catalog.own_cpu_speed import OwnCpuSpeed
from smtc_lab.errors import SmtcLabError
from smtc_lab.launchers import dilation
from smtc_lab.launchers.dilation import (
    at_dilation,
    at_one_dilation,
    common_dilation,
    dilation_problems,
    emulation_facts,
    speed_units,
)
from smtc_lab.launchers.local import plan
from smtc_lab.spec.cluster import Cluster
from smtc_lab.spec.emulation import Emulation
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
        monkeypatch.setattr(dilation, "own_cpu_speed", lambda: made)
        monkeypatch.setattr(dilation, "known_cpu_speed", lambda: made)

    return be


def refuse() -> OwnCpuSpeed:
    raise SmtcLabError("This machine was measured.")


def made(job: TrainingJob) -> Emulation:
    assert job.emulation is not None
    return job.emulation


@pytest.mark.parametrize("value", [0.7, 1.0, 3.0])
@pytest.mark.parametrize("cores", [1.0, 2.0, 512.0])
@pytest.mark.parametrize("cluster", [SMALL, LARGE])
def test_vcpus_and_device_slow_down_by_one_factor(
    value: float, cores: float, cluster: str, speed: Callable[[float], None]
) -> None:
    speed(value)

    least = common_dilation([job(cluster)], CATALOG, cores=cores)
    emulation = made(at_dilation(job(cluster), least))

    slower = emulation.dilation
    assert slower >= 1
    assert emulation.cores_per_vcpu is not None
    assert emulation.cores_per_vcpu * value == pytest.approx(1 / slower)
    assert emulation.dilated_device_s == pytest.approx(0.03 * slower)
    needed = emulation.cores_per_vcpu * speed_units(job(cluster), CATALOG)
    assert needed <= cores / 2 + 1e-9
    fastest = max(
        relative_cpu_speed(CATALOG.get(group.instance_type), {}).value
        for group in job(cluster).cluster.instance_groups
    )
    one_fits = max(1.0, fastest / value)  # a core does the work of one vCPU
    assert slower == pytest.approx(one_fits) or needed == pytest.approx(cores / 2)


def test_the_largest_cluster_of_a_comparison_slows_all_down(
    speed: Callable[[float], None],
) -> None:
    speed(1.0)

    def chosen(jobs: list[TrainingJob]) -> float:
        return common_dilation(jobs, CATALOG, cores=2.0)

    both = at_one_dilation([job(), job(LARGE)], chosen)
    small, large = (made(each).dilation for each in both)

    assert small == large == chosen([job(LARGE)]) > chosen([job()])


def test_a_dilation_that_one_set_up_names_is_that_of_all(
    speed: Callable[[float], None],
) -> None:
    speed(1.0)
    named = job(emulation=Emulation(time_dilation=300.0))

    both = at_one_dilation([job(LARGE), named], lambda _: 40.0)

    assert [made(each).dilation for each in both] == [300, 300]


@pytest.mark.parametrize(("scale", "slower"), [(0.01, 50.0), (0.5, 1.0), (4.0, 1.0)])
def test_cores_for_each_vcpu_mean_a_dilation(
    scale: float, slower: float, speed: Callable[[float], None]
) -> None:
    """With a core of twice the speed half a core does all that a vCPU does."""
    speed(2.0)

    emulation = made(at_dilation(job(emulation=Emulation(cores_per_vcpu=scale)), 7.0))

    assert emulation.dilation == pytest.approx(slower)
    assert emulation.cores_per_vcpu == pytest.approx(1 / (2 * slower))


@pytest.mark.parametrize(
    ("cluster", "emulation", "said"),
    [
        (SMALL, Emulation(time_dilation=1.0), "need 8.00 cores, but this machine has 2"),
        ("here=local:2", Emulation(time_dilation=5.0), "time_dilation=5 slows emulated"),
        (
            LARGE,
            Emulation(time_dilation=2000.0, device_step_time_s=0.03),
            "would take 60 s here",
        ),
        ("a=ml.p4d.24xlarge:100", Emulation(), "One second of it would take"),
    ],
)
def test_what_cannot_be_emulated_is_said_before_it_starts(
    cluster: str, emulation: Emulation, said: str, speed: Callable[[float], None]
) -> None:
    speed(1.0)

    (problem,) = dilation_problems(job(cluster, emulation), CATALOG, cores=2.0)

    assert said in problem


def test_what_an_older_version_wrote_is_read_and_not_slowed_down() -> None:
    old = Emulation(cores_per_vcpu=0.01, device_step_time_s=0.03, time_stretch=1.5)

    assert (old.dilation, old.dilated_device_s) == (1.0, 0.03)


@pytest.mark.parametrize(
    ("cluster", "emulation"),
    [(SMALL, None), ("here=local:1", Emulation(device_step_time_s=0.03))],
)
def test_where_no_instance_is_emulated_nothing_is_benchmarked(
    cluster: str,
    emulation: Emulation | None,
    monkeypatch: pytest.MonkeyPatch,
    make_job: MakeJob,
    launcher: LocalLauncher,
) -> None:
    monkeypatch.setattr(dilation, "own_cpu_speed", refuse)

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
    assert facts["time_dilation"] > 1
    assert sum(each.cpu_quota_cores or 0 for each in planned.instances) == pytest.approx(1.0)
    assert emulation_facts(planned.job) == {
        name: facts[name] for name in emulation_facts(job())
    }
