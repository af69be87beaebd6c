"""The forecast of a workbench. What calibrates is a fake: it takes minutes."""

from __future__ import annotations

import json
import threading
from typing import TYPE_CHECKING, Any

import pytest

from smtc_lab.catalog.catalog import Catalog
from smtc_lab.planner.calibration.calibrate import kept_at
from smtc_lab.planner.workload_hash import workload_hash
from smtc_lab.views.forecast import forecasting
from smtc_lab.views.forecast.calibrator import Calibrating, Calibrator
from smtc_lab.views.forecast.forecasting import forecast_of
from smtc_lab.views.widgets.traits import forecast as forecast_trait
from smtc_lab.views.widgets.workbench import Workbench
from tests.kit.calibrations import calibration
from tests.kit.runs import PATIENCE_S, wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from smtc_lab.spec.job import TrainingJob
    from smtc_lab.views.forecast.info import Forecast


class FakeCalibrator(Calibrator):
    """Keeps a calibration at once in the place of making one."""

    def start(self, jobs: Any, *, root: Path, seconds: float) -> Calibrating:
        assert seconds > 0
        (job,) = jobs
        made = calibration(workload=workload_hash(job.entry_point, job.hyperparameters))
        kept_at(made, root).parent.mkdir(parents=True, exist_ok=True)
        made.save(kept_at(made, root))
        self._tell(Calibrating(state="done"))
        return self.calibrating

    def stop(self) -> None:
        self._tell(Calibrating(state="stopped"))


@pytest.fixture
def workbench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Workbench]:
    monkeypatch.setenv("SMTC_LAB_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(forecast_trait, "CALIBRATOR", FakeCalibrator())
    shown = Workbench()
    yield shown
    shown.close()


def receive(workbench: Workbench, kind: str) -> None:
    workbench._handle_custom_msg({"type": kind}, [])


def steps_of(workbench: Workbench) -> list[int]:
    """Return the steps of the set-ups that the forecast is of."""
    of = workbench.forecast["of"]
    return [job["max_steps"] for job in json.loads(of)] if of else []


def typed(workbench: Workbench, steps: int) -> None:
    """Take set-ups from a browser."""
    workbench.set_state({"value": [{**job, "max_steps": steps} for job in workbench.value]})


def test_nothing_is_told_before_a_view_has_opened(workbench: Workbench) -> None:
    typed(workbench, 7)

    assert workbench.forecast["of"] == ""
    assert workbench.forecast["set_ups"] == []


@pytest.mark.parametrize("kind", ["forecast", "environments"])
def test_a_view_that_opens_is_told_and_then_at_each_change(
    workbench: Workbench, kind: str
) -> None:
    receive(workbench, kind)
    wait_until(lambda: steps_of(workbench) == [32, 32], what="the first one is told")

    typed(workbench, 7)

    wait_until(lambda: steps_of(workbench) == [7, 7], what="the change is told")
    assert workbench.forecast["missing"]["workloads"] == 1


def test_what_was_calibrated_is_predicted_as_soon_as_it_is_told_to_be_done(
    workbench: Workbench,
) -> None:
    receive(workbench, "forecast")
    receive(workbench, "calibrate")

    wait_until(
        lambda: workbench.forecast["calibrating"]["state"] == "done", what="its end is told"
    )
    assert [each["problem"] for each in workbench.forecast["set_ups"]] == ["", ""]


def test_stopping_is_told(workbench: Workbench) -> None:
    receive(workbench, "forecast")
    receive(workbench, "stop-calibrating")

    wait_until(
        lambda: workbench.forecast["calibrating"]["state"] == "stopped", what="it is told"
    )


def test_a_slow_answer_never_replaces_a_newer_one(
    workbench: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, end, told = threading.Semaphore(0), threading.Event(), []

    def slow(value: Any, rounds: int, **options: Any) -> Forecast:
        begun.release()
        end.wait(PATIENCE_S)
        return forecast_of(value, rounds, **options)

    monkeypatch.setattr(forecasting, "forecast_of", slow)
    workbench.observe(lambda _: told.append(steps_of(workbench)), "forecast")

    receive(workbench, "forecast")
    begun.acquire()
    for steps in (7, 8, 9):
        typed(workbench, steps)
    end.set()

    wait_until(lambda: steps_of(workbench) == [9, 9], what="the newest one is told")
    assert told == [[32, 32], [9, 9]]


def test_prices_of_the_users_catalog_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SMTC_LAB_HOME", str(tmp_path / "home"))
    fake = FakeCalibrator()
    monkeypatch.setattr(forecast_trait, "CALIBRATOR", fake)
    job: TrainingJob = Workbench().jobs[0]
    catalog = Catalog.load().with_prices({"ml.p3.2xlarge": (1.0, "2026-11-01")})
    workbench = Workbench([job], catalog=catalog)
    fake.start([job], root=tmp_path / "home" / "runs", seconds=1.0)

    receive(workbench, "forecast")

    wait_until(lambda: workbench.forecast["of"], what="it is told")
    (told,) = workbench.forecast["set_ups"]
    assert told["usd_per_hour"] == 1.0
    workbench.close()


def test_all_clusters_are_told_behind_what_was_calibrated(workbench: Workbench) -> None:
    receive(workbench, "forecast")
    assert workbench.catalog_plans["of"] == ""

    receive(workbench, "calibrate")

    wait_until(lambda: workbench.catalog_plans["of"], what="all clusters are told")
    assert json.loads(workbench.catalog_plans["of"]) == workbench.value
    assert len(workbench.catalog_plans["set_ups"]) == 2
