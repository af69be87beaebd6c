"""What a form is told of all clusters that its set-ups could have."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from smtc_lab.catalog.catalog import Catalog
from smtc_lab.planner.plan import plan
from smtc_lab.spec.cluster import Cluster
from smtc_lab.spec.job import TrainingJob
from smtc_lab.store.run_folder import runs_root
from smtc_lab.views.code.set_ups import first_jobs
from smtc_lab.views.forecast.planning import catalog_plans
from smtc_lab.views.plan.describer import cluster_label
from smtc_lab.views.text.format import TIMES
from tests.kit.calibrations import keep_calibration

if TYPE_CHECKING:
    from pathlib import Path

    from smtc_lab.planner.calibration.calibration import Calibration
    from smtc_lab.views.forecast.catalog_plan import CatalogPlans, PlannedGroup

CATALOG = Catalog.load()
DECLARED_S = 0.03
DEVICE = {"emulation": {"device_step_time_s": DECLARED_S}}


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SMTC_LAB_HOME", str(tmp_path / "home"))


def pair(**fields: Any) -> list[dict[str, Any]]:
    jobs = [job.model_dump(mode="json") for job in first_jobs()]
    return [{**job, **DEVICE, **fields} for job in jobs]


def keep(value: dict[str, Any], **fields: Any) -> Calibration:
    """Keep a calibration of a set-up's workload."""
    own = {"emulated_device_s": DECLARED_S} | fields
    return keep_calibration(TrainingJob.model_validate(value), runs_root(), **own)


def told(value: list[dict[str, Any]]) -> CatalogPlans:
    return catalog_plans(value, catalog=CATALOG)


def label(groups: tuple[PlannedGroup, ...]) -> str:
    return " + ".join(f"{each.instance_count} {TIMES} {each.instance_type}" for each in groups)


def test_set_ups_of_one_workload_stand_in_one_plan_where_the_planner_has_them() -> None:
    value = pair()
    made = plan(keep(value[0]), catalog=CATALOG)

    said = told(value)

    assert json.loads(said.of) == value
    assert len(said.plans) == 1
    assert [each.plan for each in said.set_ups] == [0, 0]
    for placed, typed in zip(said.set_ups, value, strict=True):
        cluster = Cluster.model_validate(typed["cluster"])
        prediction = made.cluster(cluster).prediction
        assert placed.step_time_s == prediction.step_time_s
        assert placed.usd_per_1000_steps == prediction.usd_per_1000_steps
    json.dumps(said.as_dict(), allow_nan=False)


def test_every_point_says_which_instances_it_is_made_of() -> None:
    value = pair()
    made = plan(keep(value[0]), catalog=CATALOG)

    (found,) = told(value).plans

    assert found.plan.num_candidates == made.num_fitting
    assert [label(each) for each in found.groups] == [each.label for each in found.plan.points]
    assert {cluster_label(each.cluster) for each in made.pareto} <= {
        each.label for each in found.plan.points
    }
    roles = {tuple(group.role for group in each) for each in found.groups}
    assert roles <= {("train",), ("train", "data")}


def test_clusters_with_another_number_of_devices_stand_in_a_plan_of_their_own() -> None:
    value = pair()
    keep(value[0])
    value[1]["cluster"]["instance_groups"][0]["instance_count"] = 2

    said = told(value)

    assert [each.plan for each in said.set_ups] == [0, 1]
    trainers = [
        {groups[0].instance_count for groups in each.groups if groups[0].role == "train"}
        for each in said.plans
    ]
    assert trainers == [{1}, {2}]


def test_a_device_time_that_was_not_calibrated_counts_and_is_marked() -> None:
    value = pair(emulation={"device_step_time_s": 50.0})
    keep(value[0])

    (found,) = told(value).plans

    assert all(point.step_time_s.mean > 49 for point in found.plan.points)
    assert {point.evidence for point in found.plan.points} == {"extrapolated"}


def test_accelerators_that_were_not_named_are_left_out_but_those_of_the_set_ups() -> None:
    value = pair()
    other = json.loads(json.dumps(value[0]))
    other["cluster"]["instance_groups"][0]["instance_type"] = "ml.g4dn.xlarge"
    value.append(other)
    keep(value[0], device_times={"NVIDIA V100": DECLARED_S})

    said = told(value)

    assert [each.problem for each in said.set_ups] == [""] * 3
    assert ["A10G" in each.plan.basis for each in said.plans] == [False, False]
    trainers = {
        group.instance_type.split(".")[1]
        for groups in said.plans[0].groups
        for group in groups
        if group.role == "train"
    }
    assert trainers == {"p3", "p3dn"}


def test_what_is_not_calibrated_or_wrong_has_no_place_and_says_why() -> None:
    value = pair()
    keep(value[0])
    local = json.loads(json.dumps(value[0]))
    local["cluster"]["instance_groups"][0]["instance_type"] = "local"
    value.append({**value[0], "hyperparameters": {"batch_size": 7}})
    value.append({})
    value.append(local)

    said = told(value)

    assert [each.plan for each in said.set_ups] == [0, 0, None, None, None]
    assert "before it is calibrated" in said.set_ups[2].problem
    assert "cannot be run" in said.set_ups[3].problem
    assert "no place" in said.set_ups[4].problem


def test_prices_of_another_catalog_make_another_plan() -> None:
    value = pair()[:1]
    keep(value[0])
    before = told(value).set_ups[0].usd_per_1000_steps
    dear = CATALOG.with_prices({"ml.p3.2xlarge": (100.0, "2026-11-01")})

    after = catalog_plans(value, catalog=dear)

    assert before is not None
    usd = after.set_ups[0].usd_per_1000_steps
    assert usd is not None
    assert usd.mean > 20 * before.mean
    labels = [point.label for point in after.plans[0].plan.points if point.is_pareto]
    assert all("ml.p3.2xlarge" not in each for each in labels)
