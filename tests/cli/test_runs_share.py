"""``smtc-lab runs share``: one file of a run, and never over another one."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from smtc_lab.study.folder import StudyRequest
from smtc_lab.study.supervision import keep_here, make_study
from tests.kit.records import run_records
from tests.kit.run_folders import write_run_folder

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    SmtcLab = Callable[..., Any]


@pytest.fixture
def train(home: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Return a function that leaves a run named ``train-r1`` in a state."""
    monkeypatch.chdir(home)

    def leave(state: str) -> None:
        folder = write_run_folder(home / "runs", run_records(state=state))
        handle = {
            "launcher": "local",
            "job_name": folder.job_name,
            "run_folder": str(folder.path),
        }
        folder.handle_file.write_text(json.dumps(handle), encoding="utf-8")

    return leave


def test_a_run_becomes_a_file_that_is_named_with_its_size(
    smtc_lab: SmtcLab, home: Path, train: Callable[[str], None]
) -> None:
    train("Completed")

    said = smtc_lab("runs", "share", "train")

    path = home / "train-r1.html"
    assert said.exit_code == 0
    assert said.out == f"Written: train-r1.html ({path.stat().st_size / 1e6:.2f} MB)\n"
    assert path.read_text(encoding="utf-8").startswith("<!doctype html>")


def test_no_file_is_replaced_without_force(
    smtc_lab: SmtcLab, home: Path, train: Callable[[str], None]
) -> None:
    train("Completed")
    path = home / "mine.html"
    path.write_text("mine", encoding="utf-8")

    refused = smtc_lab("runs", "share", "train-r1", "--to", path)
    kept = path.read_text(encoding="utf-8")
    forced = smtc_lab("runs", "share", "train-r1", "--to", path, "--force")

    assert refused.exit_code == 2
    assert str(path) in refused.err
    assert kept == "mine"
    assert forced.exit_code == 0
    assert "train-r1" in path.read_text(encoding="utf-8")


def test_of_a_run_that_goes_on_there_is_what_there_is_so_far(
    smtc_lab: SmtcLab, home: Path, train: Callable[[str], None]
) -> None:
    train("InProgress")

    said = smtc_lab("runs", "share", "train-r1", "--to", home / "so_far.html")

    assert "train-r1 goes on: the file has what there is so far." in said.out
    assert "It went on when this was saved" in (home / "so_far.html").read_text("utf-8")


def test_a_study_is_shared_by_its_name_or_a_begin_that_only_it_has(
    smtc_lab: SmtcLab, home: Path
) -> None:
    request = StudyRequest(
        jobs=(run_records().job, run_records(cluster="a=local:1").job),
        rounds=2,
        root=home / "runs",
        created=datetime(2026, 11, 24, 1, 30, tzinfo=UTC),
    )
    name = make_study(request, keep_here).name

    write_run_folder(home / "runs", run_records(job_name="other-1"))

    said = smtc_lab("runs", "share", name[:-5], "--to", home / "study.html")
    unknown = smtc_lab("runs", "share", f"x{name}")

    assert f"Did you mean {name}?" in unknown.err
    assert said.exit_code == 0
    assert f"{name} goes on" in said.out
    assert "A comparison, shared from smtc_lab" in (home / "study.html").read_text("utf-8")
