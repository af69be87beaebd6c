"""Whether data instances reduce gradients, where a job leaves it open."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from smtc_lab.catalog.catalog import Catalog
from smtc_lab.launchers.local.plan import make_plan
from smtc_lab.launchers.reduction import REDUCTION, with_reduction
from smtc_lab.planner.forecast.calibrated import CalibratedModel
from smtc_lab.planner.forecast.reduction import with_known_reduction
from smtc_lab.planner.model.predict import predict
from smtc_lab.planner.run_prediction import _setup
from smtc_lab.spec.cluster import Cluster
from smtc_lab.spec.distribution import Distribution
from smtc_lab.spec.emulation import EmulatedLink, Emulation
from smtc_lab.spec.job import TrainingJob
from tests.kit.calibrations import calibration, keep_calibration

CATALOG = Catalog.load()
LINK = EmulatedLink.parse("between=50Mbit/100us")


def job(cluster: str, link: EmulatedLink | None = LINK, reduce_on: str = "auto") -> TrainingJob:
    return TrainingJob(
        entry_point=str(Path(__file__)),
        cluster=Cluster.parse(cluster),
        distribution=Distribution.model_validate({"reduce_on": reduce_on}),
        emulation=Emulation(link=link, device_step_time_s=0.01, cores_per_vcpu=1e-3),
    )


def decided(asked: TrainingJob) -> tuple[str | None, str]:
    made, facts = with_reduction(asked, CATALOG)
    assert isinstance(made.distribution, Distribution)
    return made.distribution.reduce_on, facts.get(REDUCTION, "")


@pytest.mark.parametrize(
    ("cluster", "link", "why"),
    [
        ("a=ml.p3.2xlarge:4,b=ml.c5.9xlarge:4", LINK, "in 0.67 of the time of a ring"),
        ("a=ml.p3.2xlarge:4,b=ml.c5.9xlarge:1", LINK, "1 of them let 4 training instances"),
        ("a=ml.p3.2xlarge:8,b=ml.c5.9xlarge:8", None, "in 0.57 of the time of a ring"),
    ],
)
def test_reducers_are_on_where_they_shorten_the_exchange(
    cluster: str, link: EmulatedLink | None, why: str
) -> None:
    reduce_on, said = decided(job(cluster, link))

    assert reduce_on == "data_group"
    assert said.startswith("Data instances reduce gradients: while they are idle, ")
    assert why in said


@pytest.mark.parametrize(
    ("cluster", "link", "why"),
    [
        ("a=ml.p3.2xlarge:2,b=ml.c5.9xlarge:4", LINK, "with one or two training instances"),
        ("a=ml.p3.2xlarge:4", LINK, "there are none"),
        ("a=local:4,b=ml.c5.9xlarge:4", None, "the network between the instances is not known"),
        ("a=ml.p4d.24xlarge:16,b=ml.c5.xlarge:1", None, "in 1.00 of the time of a ring"),
    ],
)
def test_reducers_are_off_where_they_bring_nothing(
    cluster: str, link: EmulatedLink | None, why: str
) -> None:
    asked = job(cluster, link)
    asked = asked.model_copy(
        update={
            "cluster": Cluster(
                instance_groups=tuple(
                    group.model_copy(update={"role": "data" if place else "train"})
                    for place, group in enumerate(asked.cluster.instance_groups)
                )
            )
        }
    )

    reduce_on, said = decided(asked)

    assert reduce_on is None
    assert said.startswith("Data instances do not reduce gradients: ")
    assert why in said


def calibrated_job(
    tmp_path: Path, device_s: float, **fields: Any
) -> tuple[TrainingJob, dict[str, Any]]:
    """Return a job of eight slow cards each way, decided beside a calibration of its script."""
    asked = job("a=ml.p3.2xlarge:8,b=ml.c5.9xlarge:8")
    emulation = Emulation(link=LINK, device_step_time_s=device_s, cores_per_vcpu=1e-3)
    asked = asked.model_copy(update={"emulation": emulation})
    keep_calibration(asked, tmp_path, **fields)
    return with_reduction(asked, CATALOG, root=tmp_path)


@pytest.mark.parametrize(("gradient_bytes", "reduce_on"), [(8e6, "data_group"), (1e3, None)])
def test_a_calibration_of_the_script_decides_where_there_is_one(
    tmp_path: Path, gradient_bytes: float, reduce_on: str | None
) -> None:
    # by the network alone eight reducers always pay; not where next to nothing is exchanged
    made, facts = calibrated_job(tmp_path, 1.0, gradient_bytes=gradient_bytes)

    assert isinstance(made.distribution, Distribution)
    assert made.distribution.reduce_on == reduce_on
    assert "by the calibration of 2026-11-22 a step takes" in facts[REDUCTION]
    assert "not calibrated" not in facts[REDUCTION]


def test_without_a_calibration_that_tells_of_gradients_the_network_decides(
    tmp_path: Path,
) -> None:
    made, facts = calibrated_job(tmp_path, 1.0, gradient_bytes=None)

    assert isinstance(made.distribution, Distribution)
    assert made.distribution.reduce_on == "data_group"
    assert facts[REDUCTION].endswith("by the network alone, as the script is not calibrated.")


def test_a_calibration_of_a_job_that_emulates_nothing_decides_on_the_catalogs_network(
    tmp_path: Path,
) -> None:
    asked = TrainingJob(
        entry_point=str(Path(__file__)),
        cluster=Cluster.parse("a=ml.p3.2xlarge:8,b=ml.c5.9xlarge:8"),
        distribution=Distribution.model_validate({"reduce_on": "auto"}),
    )
    machine = {"cpu": "a CPU", "cores": 2.0, "gpus": ["NVIDIA V100"]}
    gradients = {"gradient_bytes": 4e9, "emulated_device_s": None, "machine": machine}
    keep_calibration(asked, tmp_path, **gradients)

    made, facts = with_reduction(asked, CATALOG, root=tmp_path)

    assert isinstance(made.distribution, Distribution)
    assert made.distribution.reduce_on == "data_group"
    assert "by the calibration of 2026-11-22" in facts[REDUCTION]


def test_a_forecast_decides_as_the_launch_does(tmp_path: Path) -> None:
    made, _ = calibrated_job(tmp_path, 1.0, gradient_bytes=1e3)
    asked = job("a=ml.p3.2xlarge:8,b=ml.c5.9xlarge:8")
    asked = asked.model_copy(update={"emulation": made.emulation})
    known = CalibratedModel(calibration(gradient_bytes=1e3))

    assert with_known_reduction(asked, CATALOG, known).distribution == made.distribution


def test_what_is_said_outright_is_not_judged() -> None:
    assert decided(job("a=ml.p3.2xlarge:2,b=ml.c5.9xlarge:1", reduce_on="data_group")) == (
        "data_group",
        "",
    )


def test_a_plan_holds_what_was_decided_and_the_planner_agrees_that_it_pays() -> None:
    gradients = calibration(gradient_bytes=8e6)

    def step_s(reduce_on: str | None) -> float:
        asked = job("a=ml.p3.2xlarge:4,b=ml.c5.9xlarge:4", reduce_on=reduce_on)  # type: ignore[arg-type]
        made = make_plan(asked, CATALOG, grace_s=5.0)
        values = {
            "facts": made.facts,
            "instances": [
                {
                    "role": each.role,
                    "num_workers": each.num_workers,
                    "num_cpus": each.num_cpus,
                    "cpu_quota_cores": each.cpu_quota_cores,
                }
                for each in made.instances
            ],
        }
        return predict(gradients, _setup(gradients, made.job, values)).step_time_s.mean

    auto, on, off = (step_s(each) for each in ("auto", "data_group", None))
    assert auto == on
    assert auto < 0.98 * off
