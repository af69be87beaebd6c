"""Runs that a script or a notebook makes by itself."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
import torch

import smtc_lab as lab
from smtc_lab.errors import EntryPointError, LauncherError, SpecError, StoreError
from smtc_lab.store.identity.notes import FILE, read_notes
from smtc_lab.study.experiments.experiment import experiment_run

if TYPE_CHECKING:
    from pathlib import Path


def test_what_is_logged_is_a_row_of_the_table(tmp_path: Path) -> None:
    model = tmp_path / "model.pt"
    model.write_bytes(b"weights")
    with experiment_run("digits", "first", tags=["baseline"], root=tmp_path / "runs") as run:
        run.log_parameters({"lr": 0.1, "depth": 3, "name": "a\u202eb"})
        run.log_parameter("lr", 0.2)
        for loss in (3.0, torch.tensor(0.5), float("nan"), 1.0):
            run.log_metric("loss", loss)
        run.log_metric("accuracy", 0.75, step=7)
        run.log_file(model)
        run.log_artifact("data", "s3://bucket/data")
        assert lab.runs(tmp_path / "runs").rows[0]["state"] == "InProgress"

    (row,) = lab.runs(tmp_path / "runs").rows
    assert (row["name"], row["state"], row["kind"]) == ("first", "Completed", "run")
    assert (row["experiment"], row["tags"], row["cost_usd"]) == ("digits", "baseline", None)
    assert (row["param.lr"], row["param.depth"]) == (0.2, 3)
    assert (row["metric.loss"], row["metric.loss.min"], row["metric.loss.max"]) == (
        1.0,
        0.5,
        3.0,
    )
    opened = lab.Run.open("first", root=tmp_path / "runs")
    assert opened.metrics()["loss"].step.tolist() == [0, 1, 2, 3]
    assert opened.metrics()["accuracy"].step.tolist() == [7]
    notes = read_notes(opened.folder)
    assert notes.artifacts == {"model.pt": "artifacts/0-model.pt", "data": "s3://bucket/data"}
    assert (opened.folder.path / "artifacts/0-model.pt").read_bytes() == b"weights"
    assert notes.parameters["name"] == "a\ufffdb"


@pytest.mark.parametrize(
    ("error", "state"),
    [(ValueError("no \u202esuch"), "Failed"), (KeyboardInterrupt(), "Stopped")],
)
def test_how_its_block_ends_is_its_state(
    tmp_path: Path, error: BaseException, state: str
) -> None:
    def train() -> None:
        with experiment_run(root=tmp_path) as run:
            run.log_metric("loss", 1.0)
            raise error

    with pytest.raises(type(error)):
        train()

    (row,) = lab.runs(tmp_path).rows
    assert row["state"] == state
    assert row["reason"] in {"ValueError: no \ufffdsuch", "KeyboardInterrupt:"}


def test_what_does_not_fit_is_refused_and_what_was_kept_stays(tmp_path: Path) -> None:
    run = experiment_run(root=tmp_path)
    with pytest.raises(EntryPointError, match="is not open"):
        run.log_metric("loss", 1.0)
    with run:
        run.log_parameter("lr", 0.1)
        with pytest.raises(EntryPointError, match="is no number"):
            run.log_metric("loss", "low")
        with pytest.raises(EntryPointError, match="with names of 1 to 250"):
            run.log_parameter("x" * 300, 1)
        with pytest.raises(EntryPointError, match="texts, numbers or bools"):
            run.log_parameter("list", [1])  # type: ignore[arg-type]
        with pytest.raises(EntryPointError, match="is no file"):
            run.log_file(tmp_path / "absent")
        with (
            pytest.raises(EntryPointError, match="Another experiment_run is open"),
            experiment_run(root=tmp_path),
        ):
            pass
        with pytest.raises(LauncherError, match="End it there"):
            lab.Run.open(run.run_name, root=tmp_path).stop()
    with pytest.raises(EntryPointError, match="is not open"):
        run.log_parameter("lr", 0.2)
    with pytest.raises(SpecError, match="250 characters"):
        experiment_run("x" * 300)

    (row,) = lab.runs(tmp_path).rows
    assert row["param.lr"] == 0.1


def test_a_killed_process_loses_nothing_that_was_written(tmp_path: Path) -> None:
    code = (
        "import os, signal, sys, time; import smtc_lab as lab\n"
        "with lab.experiment_run(run_name='killed', root=sys.argv[1]) as run:\n"
        "    run.log_parameter('lr', 0.1)\n"
        "    for step in range(100): run.log_metric('loss', step)\n"
        "    time.sleep(0.5)\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=False)

    assert done.returncode == -signal.SIGKILL
    (row,) = lab.runs(tmp_path).rows
    assert (row["state"], row["metric.loss"], row["param.lr"]) == ("Failed", 99.0, 0.1)
    assert row["reason"] == (
        "The process that made the run ended without a word. What it logged is kept."
    )


def test_tags_and_a_note_can_be_given_later(tmp_path: Path) -> None:
    with experiment_run(run_name="one", root=tmp_path) as run:
        run.log_parameter("lr", 0.1)
    before = lab.runs(tmp_path)
    lab.annotate("one", tags=["good", "kept"], root=tmp_path)
    lab.annotate("one", note="It is\u202e the best.", root=tmp_path)

    (row,) = lab.runs(tmp_path).where('"good" in tags').rows
    assert before.rows[0]["tags"] is None
    assert (row["tags"], row["note"], row["param.lr"]) == (
        "good, kept",
        "It is\ufffd the best.",
        0.1,
    )
    with pytest.raises(StoreError, match="50 tags"):
        lab.annotate("one", tags=[str(number) for number in range(51)], root=tmp_path)
    (tmp_path / "one" / FILE).write_text("{")
    assert read_notes(lab.Run.open("one", root=tmp_path).folder).tags == ()
    assert os.path.lexists(tmp_path / "one" / FILE)
