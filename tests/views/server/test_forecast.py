"""What set-ups would be, asked of a real server. What calibrates is a fake: it takes long."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from smtc_lab.spec.job import TrainingJob
from smtc_lab.study.comparison.comparison_run import ComparisonRun
from smtc_lab.views.forecast.calibrator import Calibrating, Calibrator
from smtc_lab.views.live.foretold import kept_foretold
from smtc_lab.views.server import hub
from tests.kit.calibrations import keep_calibration

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence
    from pathlib import Path

    Ask = Callable[..., Awaitable[tuple[int, Any]]]


class FakeCalibrator(Calibrator):
    """Begins nothing, and takes note of what it was asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []

    def start(self, jobs: Sequence[TrainingJob], *, root: Path, seconds: float) -> Calibrating:
        self.asked += [job.entry_point for job in jobs]
        assert root.name == "runs"
        assert seconds > 0
        self._calibrating = Calibrating(state="calibrating", sentence="Launch 1 of 15.")
        return self._calibrating

    def stop(self) -> None:
        self._calibrating = Calibrating(state="stopped")


@pytest.fixture(autouse=True)
def calibrator(monkeypatch: pytest.MonkeyPatch) -> FakeCalibrator:
    own = FakeCalibrator()
    monkeypatch.setattr(hub, "CALIBRATOR", own)
    return own


async def demo(ask: Ask, **changes: Any) -> list[dict[str, Any]]:
    _, first = await ask("set-ups", body={"value": None, "rounds": 1})
    return [{**job, **changes} for job in first["value"]]


async def test_what_is_calibrated_is_told_with_intervals(ask: Ask, root: Path) -> None:
    value = await demo(ask)
    keep_calibration(TrainingJob.model_validate(value[0]), root)

    status, told = await ask("forecast", body={"value": value, "rounds": 3})

    assert status == 200
    assert [each["problem"] for each in told["set_ups"]] == ["", ""]
    step = told["set_ups"][0]["step_time_s"]
    assert step["low"] <= step["value"] <= step["high"]
    assert told["missing"] is None


async def test_what_was_predicted_stays_with_what_is_started(ask: Ask, root: Path) -> None:
    value = await demo(ask, max_steps=1)
    keep_calibration(TrainingJob.model_validate(value[0]), root)
    _, checked = await ask("set-ups", body={"value": value, "rounds": 1})

    _, started = await ask(
        "runs", body={"kind": "comparison", "jobs": checked["jobs"], "rounds": 1}
    )

    comparison = ComparisonRun.open(started["name"], root=root)
    comparison.stop()
    assert all(kept_foretold(comparison.folder))
    assert len(kept_foretold(comparison.folder)) == 2


async def test_a_calibration_is_begun_from_the_folder_of_the_server_and_stopped(
    ask: Ask, script: str, jp_root_dir: Path, calibrator: FakeCalibrator
) -> None:
    value = await demo(ask, entry_point=script)
    _, before = await ask("forecast", body={"value": value, "rounds": 1})

    status, _ = await ask("calibration", body={"calibrate": value})
    _, during = await ask("forecast", body={"value": value, "rounds": 1})
    stopped, _ = await ask("calibration", body={"calibrate": None})
    _, after = await ask("forecast", body={"value": value, "rounds": 1})

    assert before["missing"]["workloads"] == 1
    assert (status, stopped) == (202, 202)
    assert calibrator.asked == [str(jp_root_dir / script)]
    states = [told["calibrating"]["state"] for told in (before, during, after)]
    assert states == ["idle", "calibrating", "stopped"]


@pytest.mark.parametrize(
    "body",
    [
        "no JSON",
        {},
        {"value": None, "rounds": 1},
        {"value": [], "rounds": 0},
        {"value": [{}] * 21},
    ],
)
async def test_what_holds_no_set_ups_is_refused_with_what_to_do(ask: Ask, body: Any) -> None:
    status, answer = await ask("forecast", body=body)

    assert status == 400
    assert any(remedy in answer["message"] for remedy in ("Send", "Load the page again"))


@pytest.mark.parametrize(
    "body", ["no JSON", {}, {"calibrate": "all"}, {"calibrate": [{}] * 21}]
)
async def test_nothing_else_is_calibrated(
    ask: Ask, body: Any, calibrator: FakeCalibrator
) -> None:
    status, answer = await ask("calibration", body=body)

    assert status == 400
    assert any(remedy in answer["message"] for remedy in ("Send", "Load the page again"))
    assert calibrator.asked == []


async def test_all_clusters_are_told_with_the_set_ups_among_them(ask: Ask, root: Path) -> None:
    value = await demo(ask, emulation={"device_step_time_s": 0.03})
    job = TrainingJob.model_validate(value[0])
    keep_calibration(job, root, emulated_device_s=0.03)

    status, told = await ask("catalog-plans", body={"value": value, "rounds": 1})

    assert status == 200
    assert [each["plan"] for each in told["set_ups"]] == [0, 0]
    (found,) = told["plans"]
    assert len(found["groups"]) == len(found["plan"]["points"]) > 10
