"""A search of hyperparameters whose trials run on a Ray cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import smtc_lab as lab
from tests.kit.launch_sites.ray import RaySite

if TYPE_CHECKING:
    from pathlib import Path

pytest.importorskip("optuna")

SCRIPT = """
import argparse
import smtc_lab
given = argparse.ArgumentParser()
given.add_argument("--lr", type=float)
smtc_lab.log(loss=abs(given.parse_args().lr - 0.3))
"""


@pytest.mark.timeout(400)
def test_trials_are_launched_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = tmp_path / "train.py"
    script.write_text(SCRIPT, encoding="utf-8")
    job = lab.TrainingJob(
        entry_point=str(script), cluster=lab.Cluster.parse("gpu=ml.p3.2xlarge:1")
    )
    tuner = lab.HyperparameterTuner(
        job,
        "loss",
        {"lr": lab.ContinuousParameter(0.0, 1.0)},
        objective_type="Minimize",
        max_jobs=2,
    )
    with RaySite.opened() as site:
        monkeypatch.setenv("RAY_ADDRESS", site.address.partition(",")[0])
        study = tuner.fit(on="ray", root=tmp_path / "runs")

    found = study.found
    assert [trial.state for trial in found.trials] == ["Completed"] * 2
    for trial in found.trials:
        assert trial.value == pytest.approx(abs(trial.parameters["lr"] - 0.3))
    assert all('"ray"' in run.folder.handle_file.read_text("utf-8") for run in study.runs)
