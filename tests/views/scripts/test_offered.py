"""The scripts that a form offers."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from smtc_lab.examples import ENTRY_POINTS, example
from smtc_lab.views.scripts.info import (
    OfferedCell,
    OfferedScript,
    SavedCell,
    ScriptFolder,
    Scripts,
)
from smtc_lab.views.scripts.offered import look_into, offered_scripts
from tests.kit.records import run_records
from tests.kit.run_folders import write_run_folder

FIXTURE = Path(__file__).parents[2] / "fixtures" / "scripts.json"


def run_of(root: Path, script: str, name: str) -> None:
    records = run_records([0.1], job_name=name)
    job = records.job.model_copy(update={"entry_point": script})
    write_run_folder(root, records.__class__(**{**vars(records), "job": job}))


def test_both_sides_of_the_wire_read_the_same() -> None:
    told = Scripts(
        recent=(OfferedScript(label="train.py", path="/home/me/train.py", about="/home/me"),),
        examples=(
            OfferedScript(label="digits.py", path="/lib/digits.py", about="Trains <b>it</b>."),
        ),
        cells=(OfferedCell(number=3, about="12 lines: defines Net"),),
        folder=ScriptFolder(
            path="/home/me",
            parent="/home",
            folders=("data",),
            files=("a.py", "b & c.py"),
            is_cut=False,
            problem="",
        ),
        saved=SavedCell(number=3, path="/runs/cells/cell_1.py", problem=""),
    )

    assert told.as_dict() == json.loads(FIXTURE.read_text(encoding="utf-8"))


def test_a_folder_tells_its_python_files_and_folders_and_nothing_else(tmp_path: Path) -> None:
    for name in ("b.py", "A.py", "notes.txt", ".hidden.py", "turned\u202e.py"):
        (tmp_path / name).touch()
    for name in ("data", ".git", "__pycache__"):
        (tmp_path / name).mkdir()
    (tmp_path / "nowhere.py").symlink_to(tmp_path / "gone")
    (tmp_path / "dir.py").mkdir()

    told = look_into(tmp_path)

    assert told.files == ("A.py", "b.py")
    assert told.folders == ("data", "dir.py")
    assert (told.path, told.parent) == (str(tmp_path), str(tmp_path.parent))
    assert (told.is_cut, told.problem) == (False, "")


def test_a_folder_with_very_much_in_it_is_cut_and_says_so(tmp_path: Path) -> None:
    for number in range(301):
        (tmp_path / f"{number:03}.py").touch()

    told = look_into(tmp_path)

    assert len(told.files) == 300
    assert told.is_cut


@pytest.mark.parametrize("made", ["gone", "file"])
def test_what_cannot_be_looked_into_says_why_and_shows_the_way_up(
    tmp_path: Path, made: str
) -> None:
    path = tmp_path / "there"
    if made == "file":
        path.touch()

    told = look_into(path)

    assert "cannot be looked into" in told.problem
    assert told.parent == str(tmp_path)
    assert told.files == ()


def test_the_root_has_no_folder_above() -> None:
    assert look_into(Path("/")).parent is None


def test_a_relative_folder_counts_from_the_base(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()

    told = offered_scripts("sub/../sub", base=tmp_path, root=tmp_path)

    assert told.folder is not None
    assert told.folder.path == str(tmp_path / "sub")


def test_scripts_of_the_newest_runs_are_offered_once_while_they_are_there(
    tmp_path: Path,
) -> None:
    root, scripts = tmp_path / "runs", tmp_path / "scripts"
    scripts.mkdir()
    for name in ("old.py", "new.py"):
        (scripts / name).touch()
    began = 1_000_000_000
    asked = ("old.py", "new.py", "old.py", "new.py", "gone.py")
    for number, name in enumerate(asked):
        run_of(root, str(scripts / name), f"run-{number}")
        marker = root / f"run-{number}" / "job.json"
        os.utime(marker, (began + number, began + number))
    run_of(root, example("digits"), "an-example")
    run_of(root, "relative.py", "a-relative-one")

    told = offered_scripts("", base=tmp_path, root=root)

    assert [each.label for each in told.recent] == ["new.py", "old.py"]
    assert told.recent[0].path == str(scripts / "new.py")
    assert told.recent[0].about == str(scripts)


def test_a_damaged_run_offers_nothing(tmp_path: Path) -> None:
    run_of(tmp_path, str(tmp_path / "a.py"), "damaged")
    (tmp_path / "damaged" / "job.json").write_text("{")

    assert offered_scripts("", base=tmp_path, root=tmp_path).recent == ()


def test_each_example_says_in_a_sentence_what_it_does(tmp_path: Path) -> None:
    told = offered_scripts("", base=tmp_path, root=tmp_path).examples

    assert len(told) == len(ENTRY_POINTS)
    assert all(each.about.endswith(".") and Path(each.path).is_file() for each in told)
