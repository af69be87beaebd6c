"""What a form is told of its set-ups, from what is typed in it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from smtc_lab.catalog.catalog import Catalog
from smtc_lab.planner.intervals import estimate
from smtc_lab.planner.plan import plan
from smtc_lab.spec.job import TrainingJob
from smtc_lab.store.run_folder import runs_root
from smtc_lab.study.folder import StudyFolder
from smtc_lab.views.code.set_ups import first_jobs
from smtc_lab.views.forecast.calibrator import Calibrating
from smtc_lab.views.forecast.forecasting import calibrate_missing, forecast_of, keep_forecast
from smtc_lab.views.forecast.info import (
    AddedGroup,
    Forecast,
    ForecastSetUp,
    KeptCalibration,
    MissingCalibrations,
    PartUse,
    TypeOffers,
)
from smtc_lab.views.live.foretold import kept_foretold
from tests.kit.calibrations import keep_calibration

if TYPE_CHECKING:
    from collections.abc import Sequence

    from smtc_lab.planner.calibration.calibration import Calibration

FIXTURE = Path(__file__).parents[2] / "fixtures" / "forecast.json"
CATALOG = Catalog.load()


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SMTC_LAB_HOME", str(tmp_path / "home"))
    return tmp_path


def pair() -> list[dict[str, Any]]:
    return [job.model_dump(mode="json") for job in first_jobs()]


def keep(value: dict[str, Any], **fields: Any) -> Calibration:
    """Keep a calibration of a set-up's workload."""
    return keep_calibration(TrainingJob.model_validate(value), runs_root(), **fields)


def told(value: Sequence[object], *, folder: Path | None = None) -> Forecast:
    return forecast_of(value, 2, catalog=CATALOG, calibrating=Calibrating(), folder=folder)


class Recorder:
    """Takes note of what is to be calibrated."""

    def __init__(self) -> None:
        self.jobs: list[TrainingJob] = []

    def start(self, jobs: Sequence[TrainingJob], **_: object) -> Calibrating:
        self.jobs = list(jobs)
        return Calibrating()


def test_without_a_calibration_it_says_what_one_would_take() -> None:
    value = pair()

    made = told(value)

    assert [each.problem.split(":")[0] for each in made.set_ups] == [
        "Nothing is predicted yet"
    ] * 2
    assert all("Calibrate it." in each.problem for each in made.set_ups)
    assert made.missing is not None
    assert made.missing.workloads == 1
    assert made.missing.about_s > made.missing.launches > 10
    assert "digits" in made.missing.sentence


def test_what_is_calibrated_is_predicted_with_all_that_a_form_shows() -> None:
    value = pair()
    keep(value[0])

    made = told(value)

    assert json.loads(made.of) == value
    assert made.missing is None
    assert made.comparison_s is not None
    costs = [each.usd_per_job for each in made.set_ups]
    assert made.comparison_usd == pytest.approx(2 * sum(each.mean for each in costs if each))
    alone, fed = made.set_ups
    assert (alone.problem, fed.problem) == ("", "")
    assert alone.calibration is not None
    assert alone.is_emulated
    assert alone.step_time_s is not None
    assert fed.step_time_s is not None
    assert alone.step_time_s.low <= alone.step_time_s.mean <= alone.step_time_s.high
    assert alone.added is not None
    assert alone.added.step_time_s == pytest.approx(fed.step_time_s.mean)
    assert fed.added is None
    assert [len(offer.step_time_s) for offer in fed.offers] == [len(CATALOG.names())] * 2
    (offer,) = alone.offers
    place = CATALOG.names().index("ml.p3.2xlarge")
    assert offer.step_time_s[place] == pytest.approx(alone.step_time_s.mean, rel=1e-3)
    json.dumps(made.as_dict(), allow_nan=False)


def test_too_few_data_workers_are_told_as_a_plan_tells_them() -> None:
    value = pair()
    calibration = keep(value[0], script_num_workers=2)

    alone, fed = told(value).set_ups

    job = TrainingJob.model_validate(value[0])
    planned = plan(calibration).cluster(job.cluster)
    what = "Raise num_workers of the script's dataloader from 2 to 8"
    assert alone.limiting_workers == 2
    assert alone.advice.startswith(f"{what}: a step is ")
    assert planned.explain().startswith("CPU-bound: 2 data workers feed ")
    assert planned.advice()[0].fix == f"{what}."
    assert (fed.limiting_workers, fed.advice) == (None, "")


def test_where_every_vcpu_prepares_samples_their_number_is_not_told_to_limit() -> None:
    value = pair()
    keep(value[0], script_num_workers=8)

    alone, _ = told(value).set_ups

    assert (alone.bottleneck, alone.limiting_workers, alone.advice) == ("cpu", None, "")


def test_what_a_form_predicts_is_kept_of_what_it_starts(tmp_path: Path) -> None:
    value = pair()
    keep(value[0])
    said = told(value)

    keep_forecast(StudyFolder(tmp_path), value, catalog=CATALOG)

    kept = kept_foretold(StudyFolder(tmp_path))
    for one, made in zip(kept, said.set_ups, strict=True):
        assert one is not None
        assert one.step_time_s == made.step_time_s
        assert one.usd_per_1000_steps == made.usd_per_1000_steps
        assert one.use == made.utilization


def test_what_was_not_calibrated_leaves_nothing_behind(tmp_path: Path) -> None:
    folder = tmp_path / "study"
    folder.mkdir()

    keep_forecast(StudyFolder(folder), pair(), catalog=CATALOG)

    assert list(folder.iterdir()) == []


def test_what_cannot_be_kept_holds_up_nothing(tmp_path: Path) -> None:
    value = pair()
    keep(value[0])

    keep_forecast(StudyFolder(tmp_path / "gone"), value, catalog=CATALOG)

    assert not (tmp_path / "gone").exists()


def test_a_set_up_that_cannot_be_run_says_so_and_the_others_are_predicted() -> None:
    value = pair()
    keep(value[0])
    wrong = {**value[1], "max_steps": 0}

    made = told([value[0], wrong, 7, {**value[0], "entry_point": "missing.py"}])

    problems = [each.problem for each in made.set_ups]
    assert problems[0] == ""
    assert "cannot be run" in problems[1]
    assert "cannot be run" in problems[2]
    assert "missing.py" in problems[3]
    assert made.comparison_s is None
    assert made.comparison_usd is None


def test_a_script_that_is_no_plain_file_is_not_read(home: Path) -> None:
    value = pair()[:1]
    (home / "folder.py").mkdir()
    value[0]["entry_point"] = str(home / "folder.py")

    (made,) = told(value).set_ups

    assert "is no plain file" in made.problem


def test_each_workload_is_calibrated_once_and_one_that_was_not_at_all() -> None:
    alone, fed = pair()
    other = {**fed, "hyperparameters": {"batch_size": 64}}
    keep(alone)
    recorder = Recorder()

    calibrate_missing([alone, other, fed, other], recorder)  # type: ignore[arg-type]

    assert [job.hyperparameters for job in recorder.jobs] == [{"batch_size": 64}]
    assert told([alone, other, fed, other]).missing is not None


def test_paths_of_a_form_count_from_the_folder_of_the_server(home: Path) -> None:
    (home / "train.py").write_text("", encoding="utf-8")
    value = [{**pair()[0], "entry_point": "train.py"}]
    recorder = Recorder()

    calibrate_missing(value, recorder, folder=home)  # type: ignore[arg-type]

    assert [job.entry_point for job in recorder.jobs] == [str(home / "train.py")]
    assert "train.py was not calibrated" in told(value, folder=home).set_ups[0].problem


def test_the_fixture_of_the_browser_is_a_forecast() -> None:
    known = ForecastSetUp(
        calibration=KeptCalibration(
            created="2026-11-24T01:00:00+00:00",
            machine="2 cores of a CPU",
            emulated_device_s=0.03,
        ),
        is_emulated=True,
        step_time_s=estimate(0.72, 0.68, 0.77),
        usd_per_hour=3.825,
        usd_per_1000_steps=estimate(0.77, 0.73, 0.82),
        usd_per_job=estimate(0.025, 0.023, 0.026),
        job_s=estimate(23.0, 21.8, 24.6),
        bottleneck="cpu",
        evidence="predicted",
        cautions=("The device is emulated: it was declared to take 0.03 s a step.",),
        utilization=PartUse(trainer_cpu=0.98, device=0.04),
        offers=(
            TypeOffers(
                instance_group_name="dnn_group",
                step_time_s=(0.72, None),
                usd_per_1000_steps=(0.77, None),
            ),
        ),
        added=AddedGroup(
            instance_type="ml.c5.9xlarge", step_time_s=0.103, usd_per_1000_steps=0.16
        ),
    )
    unknown = ForecastSetUp(problem="It was not calibrated.", utilization=PartUse())
    missing = MissingCalibrations(
        workloads=1, launches=15, about_s=160.0, sentence="It launches train.py 15 times."
    )

    made = Forecast(
        of='[{"entry_point": "train.py", "max_runtime_s": 86400.0}, {}]',
        set_ups=(known, unknown),
        missing=missing,
        calibrating=Calibrating(
            state="calibrating", sentence="Launch 3.", launch=3, launches=15
        ),
    )

    assert json.loads(FIXTURE.read_text(encoding="utf-8")) == made.as_dict()
