from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from smtc_lab.errors import StoreError
from smtc_lab.store.run_folder import RunFolder, find_run, find_runs, runs_root

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    MakeRun = Callable[[str], RunFolder]

NOBODY = 65534


def mode_of(path: Path) -> int:
    return path.stat().st_mode & 0o777


def test_a_run_folder_is_private(root: Path) -> None:
    before = os.umask(0)
    try:
        folder = RunFolder.create(root, "train-1")
    finally:
        os.umask(before)

    assert mode_of(root) == 0o700
    assert mode_of(folder.path) == 0o700
    assert {mode_of(part) for part in folder.path.iterdir() if part.is_dir()} == {0o700}
    assert mode_of(folder.ballast) == 0o600


def test_a_name_that_is_taken_is_refused(root: Path, run_folder: RunFolder) -> None:
    with pytest.raises(
        StoreError, match=r"'train-1' already lies in .*Choose another job_name"
    ):
        RunFolder.create(root, run_folder.job_name)
    assert run_folder.job_file.is_file()


@pytest.mark.parametrize("name", ["../train-1", "a/b", "", ".", "-a", "a" * 64, "a\n", "a\0"])
def test_a_name_that_leads_outside_is_refused(root: Path, name: str) -> None:
    with pytest.raises(StoreError, match=r"cannot be the name of a run's folder.*Rename"):
        RunFolder.create(root, name)
    assert not root.exists()


def test_a_root_that_is_a_file_is_named(tmp_path: Path) -> None:
    root = tmp_path / "runs"
    root.write_text("", encoding="utf-8")

    with pytest.raises(StoreError, match=r"cannot be made: File exists.*SMTC_LAB_HOME"):
        RunFolder.create(root, "train-1")


def test_a_folder_that_does_not_fit_leaves_its_name_free(
    small_disk: Path, fill: Callable[[Path], Path]
) -> None:
    filler = fill(small_disk)

    with pytest.raises(StoreError, match=r"cannot be made: No space left on device"):
        RunFolder.create(small_disk, "train-1")
    filler.unlink()
    assert RunFolder.create(small_disk, "train-1").ballast.is_file()


def test_a_run_is_found_by_its_name_and_by_the_begin_of_it(
    root: Path, make_run: MakeRun
) -> None:
    digits, plain = make_run("digits-1"), make_run("plain-1")

    assert find_run("digits-1", root) == digits
    assert find_run("pl", root) == plain


def test_a_name_that_another_one_begins_with_is_found(root: Path, make_run: MakeRun) -> None:
    short = make_run("digits-1")
    make_run("digits-10")

    assert find_run("digits-1", root) == short


def test_a_run_is_found_by_the_path_of_its_folder(run_folder: RunFolder) -> None:
    assert find_run(str(run_folder.path)) == run_folder


def test_a_begin_of_several_names_names_them(root: Path, make_run: MakeRun) -> None:
    make_run("digits-1")
    make_run("digits-2")

    with pytest.raises(
        StoreError, match=r"no run named 'digits'.*begin so: digits-1, digits-2"
    ):
        find_run("digits", root)


def test_a_misspelt_name_names_the_one_that_is_alike(root: Path, make_run: MakeRun) -> None:
    make_run("digits-1")

    with pytest.raises(StoreError, match=r"no run named 'digist-1'.*Did you mean digits-1\?"):
        find_run("digist-1", root)


def test_an_unknown_name_names_the_newest_runs(root: Path, make_run: MakeRun) -> None:
    make_run("digits-1")

    with pytest.raises(StoreError, match=r"no run named 'zzz'.*newest runs are: digits-1"):
        find_run("zzz", root)
    with pytest.raises(StoreError, match=r"newest runs are: none"):
        find_run("zzz", root / "nowhere")


@pytest.mark.parametrize("name", ["", "..", "."])
def test_no_name_is_nobodys_begin(root: Path, run_folder: RunFolder, name: str) -> None:
    assert run_folder.path.is_dir()

    with pytest.raises(StoreError, match="There is no run named"):
        find_run(name, root)


@pytest.mark.parametrize("path", ["/etc", "../..", "./nowhere", "/"])
def test_a_path_outside_any_run_is_refused(root: Path, path: str) -> None:
    with pytest.raises(StoreError, match=r"is not the folder of a run: it has no job.json"):
        find_run(path, root)


def test_runs_are_listed_oldest_first_and_other_folders_are_passed_over(
    root: Path, make_run: MakeRun
) -> None:
    new, old = make_run("a-new"), make_run("b-old")
    os.utime(old.job_file, (1, 1))
    (root / "not-a-run").mkdir()
    (root / "a-file").write_text("", encoding="utf-8")

    assert find_runs(root) == [old, new]
    assert find_runs(root / "nowhere") == []


@pytest.fixture
def closed(tmp_path: Path) -> Iterator[Path]:
    """A folder that this process may not enter, as a home folder of somebody else."""
    (tmp_path / "home").mkdir(mode=0)
    is_root = os.geteuid() == 0  # who may enter every folder
    if is_root:
        os.seteuid(NOBODY)
    yield tmp_path / "home"
    if is_root:
        os.seteuid(0)
    (tmp_path / "home").chmod(0o700)


def test_runs_that_may_not_be_read_are_no_empty_list(closed: Path) -> None:
    with pytest.raises(StoreError, match=r"cannot be listed: Permission.*set SMTC_LAB_HOME"):
        find_runs(closed / "runs")


def test_the_folder_of_all_runs_can_be_moved(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("SMTC_LAB_HOME", str(tmp_path))
    assert runs_root() == tmp_path / "runs"

    monkeypatch.delenv("SMTC_LAB_HOME")
    assert runs_root().parts[-2:] == ("smtc_lab", "runs")
