"""Runs in MLflow: all of them, once, and what has grown since."""

from __future__ import annotations

import json
import math
import sys
from typing import TYPE_CHECKING, Any

import pytest

from notebooks.benchmarks.experiments.made import make_run
from smtc_lab.errors import SpecError
from smtc_lab.metrics.records.metric_record import MetricRecord, kept_value
from smtc_lab.store.identity.notes import RunNotes, write_notes
from smtc_lab.store.writer import RecordWriter
from smtc_lab.views.export.export import export_runs
from tests.kit.records import STARTED_S

if TYPE_CHECKING:
    from pathlib import Path

    from smtc_lab.store.run_folder import RunFolder


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    folder = make_run(tmp_path / "runs", "one", points=80)
    write_notes(
        folder, RunNotes(experiment="digits", parameters={"lr": 0.1, "token": "x1y2z3"})
    )
    return folder


def grow(folder: RunFolder, name: str, *values: float) -> None:
    with RecordWriter(folder.rank_records("algo-1", 0)) as writer:
        for step, value in enumerate(values):
            row = (step, STARTED_S + step, name, *kept_value(value))
            writer.append_values(MetricRecord, row)


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
def test_a_run_is_there_once_and_equal(tmp_path: Path, folder: RunFolder) -> None:
    tracking: Any = pytest.importorskip("mlflow.tracking")
    pytest.importorskip("sqlalchemy")
    uri = f"sqlite:///{tmp_path}/mlflow.db"
    grow(folder, "odd: name", math.nan, math.inf, 1e300)

    first = export_runs(f"mlflow:{uri}", root=folder.path.parent)
    again = export_runs(f"mlflow:{uri}", root=folder.path.parent)
    grow(folder, "eval/loss", 7.0)
    folder.state_file.write_text(json.dumps({"state": "Failed", "started_s": STARTED_S}))
    grown = export_runs(f"mlflow:{uri}", root=folder.path.parent)

    assert (first.written, again.written, again.unchanged) == (("one",), (), ("one",))
    assert grown.written == ("one",)
    client = tracking.MlflowClient(uri)
    (run,) = client.search_runs([client.get_experiment_by_name("digits").experiment_id])
    assert (run.info.run_name, run.info.status) == ("one", "FAILED")
    assert (run.data.params["lr"], run.data.params["token"]) == ("0.1", "***")
    history = client.get_metric_history(run.info.run_id, "eval/loss")
    assert len(history) == 21
    assert {(one.step, one.timestamp) for one in history} == {
        (step, round(1000 * (STARTED_S + step))) for step in range(20)
    }
    odd = client.get_metric_history(run.info.run_id, "odd_ name")
    assert [one.step for one in odd] == [0, 1, 2]
    assert math.isnan(odd[0].value)


def test_without_mlflow_it_says_what_to_install(
    folder: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "mlflow.tracking", None)

    with pytest.raises(SpecError, match="pip install mlflow-skinny"):
        export_runs("mlflow:sqlite:///x.db", root=folder.path.parent)
