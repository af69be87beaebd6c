"""What is deleted can be put back for a while, and what goes on is not deleted."""

from __future__ import annotations

import os
import shutil
import threading
import time
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from smtc_lab.errors import LauncherError, StoreError
from smtc_lab.store.run_folder import RunFolder, find_runs
from smtc_lab.study.folder import write_study_state
from smtc_lab.study.trash import KEPT_S, delete_run, delete_study, empty_trash, put_back
from tests.kit.ended_comparisons import write_ended_comparison
from tests.kit.records import run_records
from tests.kit.run_folders import going_on, set_state, write_run_folder

if TYPE_CHECKING:
    from pathlib import Path

    from smtc_lab.study.comparison.comparison_run import ComparisonRun


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "runs"


def written(root: Path, name: str = "old-1", **run: object) -> RunFolder:
    return write_run_folder(root, run_records([0.2], job_name=name, **run))


@pytest.fixture
def ended(root: Path) -> ComparisonRun:
    """Return a comparison of two launches that has ended."""
    return write_ended_comparison(root)


def names(root: Path) -> list[str]:
    return [folder.job_name for folder in find_runs(root)]


def files(path: Path) -> dict[str, bytes]:
    return {str(p.relative_to(path)): p.read_bytes() for p in path.rglob("*") if p.is_file()}


def age(root: Path, seconds: float) -> None:
    """Let all deletions be older."""
    for folder in root.glob(".trash/*"):
        os.utime(folder, (time.time() - seconds,) * 2)


def test_a_deleted_run_is_gone_from_the_list_and_comes_back_whole(root: Path) -> None:
    folder = written(root)
    written(root, "other-1")
    before = files(folder.path)

    deletion = delete_run("old-1", root)

    assert names(root) == ["other-1"]
    assert not folder.path.exists()
    assert put_back(deletion.id, root) == deletion
    assert sorted(names(root)) == ["old-1", "other-1"]
    assert files(folder.path) == before
    with pytest.raises(StoreError, match="cannot be undone: it was undone before"):
        put_back(deletion.id, root)


def test_after_a_day_it_is_gone_for_good_and_not_before(root: Path) -> None:
    folder = written(root)
    protected = folder.logs / "kept"
    protected.mkdir()
    (protected / "file").touch()
    protected.chmod(0o500)
    deletion = delete_run("old-1", root)
    age(root, KEPT_S - 60)
    empty_trash(root)
    assert len(list(root.glob(".trash/*/*"))) == 1
    age(root, KEPT_S + 1)

    empty_trash(root)

    assert not list(root.glob(".trash/*"))
    with pytest.raises(StoreError, match="gone for good"):
        put_back(deletion.id, root)


def test_it_is_deleted_while_the_trash_is_emptied(root: Path) -> None:
    """As a page does that deletes at once while its server, just started, empties the trash."""
    folder = written(root)
    done = threading.Event()

    def empty() -> None:
        while not done.is_set():
            empty_trash(root)

    emptying = threading.Thread(target=empty)
    emptying.start()
    try:
        for _ in range(500):
            put_back(delete_run("old-1", root).id, root)
    finally:
        done.set()
        emptying.join()

    assert folder.job_file.is_file()


def test_a_run_that_goes_on_is_not_deleted_even_if_its_state_is_damaged(root: Path) -> None:
    folder = written(root)

    with going_on(folder):
        with pytest.raises(LauncherError, match=r"goes on, so it is not deleted\. Stop it"):
            delete_run("old-1", root)
        folder.state_file.write_text("damaged")
        with pytest.raises(LauncherError, match="still goes on"):
            delete_run("old-1", root)

    assert names(root) == ["old-1"]


def test_a_run_that_never_began_is_deleted_once_nobody_can_be_starting_it(root: Path) -> None:
    folder = RunFolder.create(root, "new-1")
    folder.job_file.write_text("{}", encoding="utf-8")
    os.utime(folder.path, (0, time.time() + 60))  # it stays new however long a look takes
    with pytest.raises(LauncherError, match="still goes on"):
        delete_run("new-1", root)
    os.utime(folder.path, (0, 0))

    delete_run("new-1", root)

    assert names(root) == []


def test_a_damaged_run_is_deleted(root: Path) -> None:
    folder = written(root)
    folder.state_file.write_text("[" * 100, encoding="utf-8")
    os.utime(folder.path, (0, 0))

    delete_run("old-1", root)

    assert names(root) == []


def test_a_comparison_goes_with_its_launches_and_comes_back_with_them(
    ended: ComparisonRun, root: Path
) -> None:
    other = written(root)
    launches = {run.job_name for run in ended.runs}
    with pytest.raises(LauncherError, match=f"is a launch of {ended.name!r}, whose numbers"):
        delete_run(min(launches), root)

    deletion = delete_study(ended.name, root)

    assert set(deletion.launches) == launches
    assert names(root) == [other.job_name]
    assert not ended.folder.path.exists()
    put_back(deletion.id, root)
    assert ended.comparison is not None
    assert {run.status for run in ended.runs} == {"Completed"}


def test_a_comparison_whose_launch_goes_on_is_not_deleted(
    ended: ComparisonRun, root: Path
) -> None:
    with (
        going_on(ended.runs[0].folder),
        pytest.raises(LauncherError, match="still goes on"),
    ):
        delete_study(ended.name, root)

    assert ended.folder.path.is_dir()
    assert len(names(root)) == 2


def test_a_comparison_of_somebody_else_takes_no_run_that_is_not_its_own(
    ended: ComparisonRun, root: Path, tmp_path: Path
) -> None:
    mine = written(root)
    elsewhere = written(tmp_path / "else", "theirs-1")
    runs = ended.state.runs
    claimed = [*runs, replace(runs[0], job_name=mine.job_name)]
    write_study_state(ended.folder, replace(ended.state, runs=tuple(claimed)))

    deletion = delete_study(ended.name, root)

    assert names(root) == [mine.job_name]
    put_back(deletion.id, root)
    claimed.append(replace(runs[0], job_name="../else/theirs-1"))
    write_study_state(ended.folder, replace(ended.state, runs=tuple(claimed)))

    delete_study(ended.name, root)  # of which nothing is believed now

    assert set(names(root)) == {mine.job_name, *(run.job_name for run in runs)}
    assert elsewhere.job_file.is_file()


def test_a_launch_whose_comparison_is_gone_is_a_run_as_any(
    ended: ComparisonRun, root: Path
) -> None:
    name = ended.runs[0].job_name
    ended.folder.request_file.unlink()

    delete_run(name, root)

    assert name not in names(root)


def test_nothing_is_put_back_over_another_run(root: Path) -> None:
    written(root)
    deletion = delete_run("old-1", root)
    written(root)

    with pytest.raises(StoreError, match="'old-1' cannot be undone: another run has that name"):
        put_back(deletion.id, root)


@pytest.mark.parametrize("name", ["gone-1", "../runs/old-1", "", ".trash", "link"])
def test_a_name_means_no_other_folder(root: Path, tmp_path: Path, name: str) -> None:
    written(root)
    (root / "link").symlink_to(written(tmp_path / "else").path)

    with pytest.raises(StoreError, match="There is no run named"):
        delete_run(name, root)

    assert (tmp_path / "else" / "old-1").is_dir()


def test_a_folder_that_cannot_be_moved_stays_with_all_others(
    ended: ComparisonRun, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    last = ended.runs[-1].folder.path
    move = type(last).rename

    def refuse_the_last(path: Path, target: Path) -> Path:
        if path == last:
            raise PermissionError(13, "Permission denied")
        return move(path, target)

    monkeypatch.setattr(type(last), "rename", refuse_the_last)

    with pytest.raises(StoreError, match="cannot be moved: Permission denied"):
        delete_study(ended.name, root)

    assert ended.folder.path.is_dir()
    assert len(names(root)) == 2


def test_a_state_that_ends_meanwhile_lets_it_be_deleted(root: Path) -> None:
    folder = written(root, state="InProgress")
    set_state(folder, "Stopped")

    delete_run("old-1", root)

    assert names(root) == []


def test_a_copy_of_a_launch_is_deleted_alone(root: Path, ended: ComparisonRun) -> None:
    launch_name = ended.state.runs[0].job_name
    shutil.copytree(root / launch_name, root / "copied-1")

    deleted = delete_run("copied-1", root)

    assert (deleted.name, deleted.launches) == ("copied-1", ())
    with pytest.raises(LauncherError, match="is a launch of"):
        delete_run(launch_name, root)
