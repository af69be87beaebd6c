from __future__ import annotations

import pytest

from smtc_lab.errors import StoreError
from smtc_lab.planner.plan import Plan, plan
from smtc_lab.views.widgets.plan_view import PlanView
from tests.kit.calibrations import PATHS, calibration, worker_point


@pytest.fixture(scope="module")
def made() -> Plan:
    points = tuple(worker_point(0.004, path=path) for path in PATHS)
    return plan(calibration(worker_points=points), families=["p3", "c5"])


def test_a_chosen_cluster_is_explained_and_can_be_launched(made: Plan) -> None:
    view = PlanView(made)
    assert view.planned.candidate == made.best.candidate
    assert view.explained == {}

    view.set_state({"chosen": len(view.plan["points"]) - 1})

    assert view.explained["place"] == view.chosen
    assert "-bound" in view.explained["text"]
    assert "lab.launch(job)" in view.explained["code"]
    assert view.planned.job().cluster == view.planned.candidate.cluster


@pytest.mark.parametrize("place", [-5, 10_000])
def test_a_place_that_is_no_cluster_is_the_recommended_one(made: Plan, place: int) -> None:
    view = PlanView(made)

    view.set_state({"chosen": place})

    assert view.planned.candidate == made.best.candidate
    assert view.explained == {}


def test_a_run_that_is_not_there_is_refused(
    made: Plan, tmp_path: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SMTC_LAB_HOME", str(tmp_path))

    with pytest.raises(StoreError, match="There is no run named 'nothing'"):
        PlanView(made).compare_with("nothing")
