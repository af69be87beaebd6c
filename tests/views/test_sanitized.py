"""What objects show in a notebook is legible behind nbconvert's sanitizer too."""

from __future__ import annotations

import json
import re
from html import unescape
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest
from nbconvert.filters.strings import clean_html

import smtc_lab as lab
from smtc_lab import Market, spot_forecast
from smtc_lab.display import Displayed
from smtc_lab.metrics.batch.batch_sizes import BatchSizes, BatchTrial, backend_batches
from smtc_lab.metrics.tuning.found import Trial, TuningFound
from smtc_lab.study.comparison.compare import ComparisonOutcome
from smtc_lab.views.display import to_html
from smtc_lab.views.figures.drawing import Picture
from smtc_lab.views.plan.bundle import plan_html
from smtc_lab.views.run_comparison.compare import compare_runs
from smtc_lab.views.run_comparison.shown import bundle_of
from smtc_lab.views.run_list import RunList
from smtc_lab.views.study.info import ComparisonInfo, LaunchInfo, SetUpInfo
from smtc_lab.views.study.words import study_html
from smtc_lab.views.text.set_ups import RowInfo
from tests.kit.comparison_runs import HETEROGENEOUS, example_job
from tests.kit.comparisons import example_comparison
from tests.kit.plans import example_plan
from tests.kit.records import run_records
from tests.kit.run_folders import write_run_folder
from tests.kit.scaling import TrueStep, made_scaling, scaling_runs

if TYPE_CHECKING:
    from collections.abc import Callable

FIXTURES = Path(__file__).parents[1] / "fixtures"
PICTURE = Picture(png=b"\x89PNG", width=800, height=400)


def _batch_sizes(_: Path) -> str:
    trial = BatchTrial(batch_size=8, fits=True, samples_per_s=80.0, run="sizes-1")
    sizes = BatchSizes(
        created="2026-11-21T12:00:00+00:00",
        entry_point="train.py",
        hyperparameter="batch_size",
        steps=10,
        memory_limit_bytes=None,
        backends=(backend_batches("eager", [trial]),),
        machine={},
    )
    return sizes._repr_html_()


def _comparison_run(_: Path) -> str:
    wire = json.loads((FIXTURES / "comparison_info.json").read_text(encoding="utf-8"))
    parts = {"set_ups": SetUpInfo, "launched": LaunchInfo, "rows": RowInfo}
    values = {
        name: tuple(parts[name](**part) for part in value) if name in parts else value
        for name, value in wire.items()
    }
    return study_html(ComparisonInfo(**values), picture=PICTURE)


def _run(folder: Path) -> str:
    return to_html(SimpleNamespace(folder=write_run_folder(folder, run_records([0.2] * 9))))


def _outcome(_: Path) -> str:
    comparison, runs = example_comparison()
    return ComparisonOutcome(comparison=comparison, runs=tuple(runs))._repr_html_()


def _run_list(_: Path) -> str:
    row = {
        "job_name": "digits-1",
        "cluster": "a=local:1",
        "state": "Completed",
        "started_s": 100.0,
        "ended_s": 112.5,
    }
    damaged = {"job_name": "bad", "damaged": "Its spec is torn."}
    return RunList(rows=(row, damaged), root=Path("/runs"), begin_with="%%smtc")._repr_html_()


def _run_comparison(root: Path) -> str:
    for name in ("digits-1", "digits-2"):
        write_run_folder(root, run_records(job_name=name, cluster="a=local:1"))
    return str(bundle_of(compare_runs("digits-1", "digits-2", root=root))["text/html"])


def _spot_forecast(_: Path) -> str:
    found = spot_forecast(
        3600.0,
        save_s=5.0,
        restart_s=60.0,
        lifetimes=Market(mean_time_between_s=1800.0),
        spot_usd_per_hour=0.3,
        on_demand_usd_per_hour=1.0,
        futures=50,
    )
    return found._repr_html_()


def _scaling(_: Path) -> str:
    runs, set_ups = scaling_runs({1: TrueStep(), 2: TrueStep(data_wait_s=0.02)})
    return made_scaling(runs, set_ups)._repr_html_()


def _tuning(_: Path) -> str:
    trials = [
        Trial(
            number=0, run="t0", parameters={"<b>lr": 0.1}, state="Completed", value=0.5, usd=1.0
        ),
        Trial(
            number=1, run="t1", parameters={"<b>lr": 0.2}, state="Failed", reason="<i>no</i>"
        ),
    ]
    return TuningFound(
        created="2026-11-29T10:00:00+00:00",
        entry_point="train.py",
        objective="<script>loss",
        is_minimized=True,
        strategy="Bayesian",
        num_trials=2,
        trials=tuple(trials),
    )._repr_html_()


SHOWN: dict[str, Callable[[Path], str]] = {
    "BatchSizes": _batch_sizes,
    "Cluster": lambda _: example_job(HETEROGENEOUS).cluster._repr_html_(),
    "Comparison": lambda _: example_comparison()[0]._repr_html_(),
    "ComparisonOutcome": _outcome,
    "ComparisonRun": _comparison_run,
    "Plan": lambda _: plan_html(example_plan(), picture=PICTURE),
    "Run": _run,
    "RunComparison": _run_comparison,
    "RunList": _run_list,
    "Scaling": _scaling,
    "ScalingRun": _scaling,  # as its result is, once it has one
    "SpotForecast": _spot_forecast,
    "TuningFound": _tuning,
    "TuningRun": _tuning,  # as what it has found is
    "TrainingJob": lambda _: example_job(HETEROGENEOUS)._repr_html_(),
}


def _words(page: str) -> str:
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", page)).split())


@pytest.mark.parametrize("name", SHOWN)
def test_nbconverts_sanitizer_shows_no_tag_as_text_and_keeps_all_words(
    tmp_path: Path, name: str
) -> None:
    page = SHOWN[name](tmp_path)

    assert _words(clean_html(page)) == _words(page)


def test_every_public_object_that_shows_itself_is_tried_here() -> None:
    public = [getattr(lab, name) for name in lab.__all__]

    shown = {
        one.__name__ for one in public if isinstance(one, type) and issubclass(one, Displayed)
    }
    assert shown <= set(SHOWN)
