"""A launch that works in a folder of its own, and what becomes of the user's files."""

from __future__ import annotations

import json
import os
import subprocess
import textwrap
from typing import TYPE_CHECKING

import pytest

from smtc_lab.errors import LauncherError
from smtc_lab.launchers.local.own_folder import OwnFolder, own_folder
from smtc_lab.launchers.run import Run, launch
from smtc_lab.machine import copied_files, linked_folder
from smtc_lab.machine.home import WORK
from smtc_lab.machine.linked_folder import LinkedFolder
from smtc_lab.spec.cluster import Cluster
from smtc_lab.spec.job import TrainingJob
from smtc_lab.store.reader import read_run
from smtc_lab.study.trash import delete_run, empty_trash
from smtc_lab.views.share.share import share
from tests.kit.records import run_records
from tests.kit.run_folders import write_run_folder

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from smtc_lab.store.run_folder import RunFolder

SCRIPT = """
    import json, os, sys
    from pathlib import Path
    where = {
        "cwd": os.getcwd(),
        "script": [__file__, sys.argv[0], sys.path[0]],
        "data": Path("../data/images.txt").read_text(),
        "begun": os.path.exists("out/begun"),
    }
    Path("out").mkdir(exist_ok=True)
    Path("out/begun").touch()
    with open("log.txt", "a") as log:
        log.write("one more line")
    print(json.dumps(where))
    if os.environ["SMTC_ATTEMPT"] == "1":
        sys.exit(os.environ.get("FIRST_ENDS_WITH", 0) and 3)
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Be in the folder of a user, with a script and a log in it and data beside it."""
    folder = tmp_path / "user" / "exp"
    folder.mkdir(parents=True)
    (folder / "train.py").write_text(textwrap.dedent(SCRIPT), encoding="utf-8")
    (folder / "log.txt").write_text("a line", encoding="utf-8")
    (folder.parent / "data").mkdir()
    (folder.parent / "data" / "images.txt").write_text("images", encoding="utf-8")
    monkeypatch.chdir(folder)
    return folder


def job(**values: object) -> TrainingJob:
    return TrainingJob(
        entry_point="train.py", cluster=Cluster.parse("here=local:1:train"), **values
    )


def said(run: Run) -> list[dict[str, object]]:
    """Return what each attempt of a run printed."""
    lines = run.logs("algo-1").splitlines()
    return [json.loads(line) for line in lines if line.startswith("{")]


def events(folder: RunFolder, kind: str) -> list[str]:
    return [event.message for event in read_run(folder).events if event.kind == kind]


def test_the_script_has_a_folder_of_its_own_and_keeps_its_path(here: Path, root: Path) -> None:
    run = launch(job(working_dir="own"), root=root, detach=False).wait(60)

    own = (run.folder.path / WORK) / here.relative_to("/")
    (told,) = said(run)
    assert told["cwd"] == str(own)
    assert told["script"] == [str(here / "train.py")] * 2 + [str(here)]
    assert told["data"] == "images"
    assert sorted(path.name for path in own.iterdir()) == ["log.txt", "out"]
    assert not (here / "out").exists()
    assert (own / "log.txt").read_text("utf-8") == "a lineone more line"
    assert (here / "log.txt").read_text("utf-8") == "a line"
    assert events(run.folder, "files changed") == []


def test_what_is_written_through_a_link_is_told(here: Path, root: Path) -> None:
    """Files beyond 256 MiB are linked, and what is opened for writing there is the user's."""
    with (here / "log.txt").open("r+b") as log:
        log.truncate(copied_files.MOST_COPIED_BYTES + 1)

    run = launch(job(working_dir="own"), root=root, detach=False).wait(60)

    (sentence,) = events(run.folder, "files changed")
    assert "meanwhile: log.txt. Launches after it" in sentence


def test_a_single_launch_works_where_it_is_started(here: Path, root: Path) -> None:
    run = launch(job(), root=root, detach=False).wait(60)

    assert said(run)[0]["cwd"] == str(here)
    assert (here / "out" / "begun").is_file()
    assert not (run.folder.path / WORK).exists()
    assert events(run.folder, "files changed") == []


def test_attempts_share_the_folder(here: Path, start: Callable[..., Run]) -> None:
    run = start(job(working_dir="own", environment={"FIRST_ENDS_WITH": "3"}))
    run._launcher.wait(run.handle, 60)
    assert run.status == "Failed"

    run.resume(detach=False)
    run.wait(60)

    first, second = said(run)
    assert first["cwd"] == second["cwd"]
    assert [first["begun"], second["begun"]] == [False, True]
    assert not (here / "out").exists()


@pytest.fixture
def folder(root: Path) -> RunFolder:
    return write_run_folder(root, run_records([0.2], job_name="killed-1"))


def own_folder_of(folder: RunFolder) -> OwnFolder:
    path = own_folder(folder, job(working_dir="own"))
    assert path is not None
    return OwnFolder(folder, path)


def test_a_folder_with_too_many_files_is_told_once(
    here: Path, folder: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(linked_folder, "MOST_LINKED", 1)

    own = own_folder_of(folder)
    own.begin()
    own.begin()

    (sentence,) = events(folder, "folder linked")
    assert sentence.startswith(
        f"{str(here)!r} has more than 10,000 files, so this launch works"
    )
    assert not (folder.path / WORK).exists()


def test_folders_that_are_linked_whole_are_told(
    here: Path, folder: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(linked_folder, "MOST_LINKED", 10)
    for number in range(11):
        (here.parent / f"{number}.txt").touch()
        for name in "abcd":
            (here / name).mkdir(exist_ok=True)
            (here / name / f"{number}.txt").touch()

    own_folder_of(folder).begin()

    whole, above = events(folder, "folder linked")
    assert whole.endswith("lands in yours: a, b, c and 1 more.")
    assert "finds nothing there but the way back" in above


def test_files_that_those_print_to_who_launch_are_not_blamed_on_the_script(
    here: Path, folder: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    with (here / "log.txt").open("ab") as log:
        ancestor = subprocess.Popen(["sleep", "60"], stdout=log)
    monkeypatch.setattr(os, "getppid", lambda: ancestor.pid)
    monkeypatch.setattr(copied_files, "MOST_COPIED", 0)
    try:
        own = own_folder_of(folder)
    finally:
        ancestor.kill()
        ancestor.wait()
    (here / "log.txt").write_text("told how far it is", encoding="utf-8")
    (here / "train.py").write_text("pass", encoding="utf-8")
    own.look()
    own.look()

    (sentence,) = events(folder, "files changed")
    assert ": train.py. Launches" in sentence


def test_each_attempt_finds_the_files_that_none_has_between_them(
    here: Path, folder: RunFolder
) -> None:
    own, copy = own_folder_of(folder), folder.path / WORK / here.relative_to("/") / "train.py"
    own.begin()
    assert copy.is_file()

    own.close()
    assert not (folder.path / WORK).exists()
    own.begin()

    assert copy.read_text("utf-8") == (here / "train.py").read_text("utf-8")


def test_a_folder_that_cannot_be_made_fails_the_run_and_says_why(
    here: Path, folder: RunFolder
) -> None:
    (folder.path / WORK).write_text("in its place", encoding="utf-8")

    with pytest.raises(
        LauncherError, match=r"no working folder of its own.*--working-dir here"
    ):
        own_folder_of(folder).begin()

    assert here.is_dir()


@pytest.fixture
def with_links(here: Path, folder: RunFolder) -> RunFolder:
    """Return a run whose links were never taken away, as after a kill of its supervisor."""
    (here / "secret.txt").write_text("the secret of the user", encoding="utf-8")
    (here / "kept").mkdir(mode=0o500)
    (folder.path / WORK).mkdir()
    assert LinkedFolder(here, (folder.path / WORK)).make()
    ((folder.path / WORK) / "whole").symlink_to(here)
    return folder


def test_deleting_a_run_never_deletes_what_its_links_lead_to(
    with_links: RunFolder, here: Path, root: Path
) -> None:
    before = {path: path.lstat().st_mode for path in here.parent.rglob("*")}

    delete_run(with_links.job_name, root)
    empty_trash(root, older_than_s=0.0)

    assert list((root / ".trash").iterdir()) == []
    assert {path: path.lstat().st_mode for path in here.parent.rglob("*")} == before
    assert (here / "secret.txt").read_text("utf-8") == "the secret of the user"


def test_a_link_in_the_trash_is_not_followed(here: Path, root: Path) -> None:
    (root / ".trash").mkdir(parents=True)
    (root / ".trash" / "0123456789abcdef").symlink_to(here)
    here.chmod(0o755)

    empty_trash(root, older_than_s=0.0)

    assert here.stat().st_mode & 0o777 == 0o755
    assert (here / "train.py").is_file()


def test_a_shared_run_holds_nothing_that_its_links_lead_to(
    with_links: RunFolder, tmp_path: Path
) -> None:
    with_links.handle_file.write_text(
        json.dumps(
            {
                "launcher": "local",
                "job_name": with_links.job_name,
                "run_folder": str(with_links.path),
            }
        ),
        encoding="utf-8",
    )
    page = share(
        Run.open(with_links.job_name, root=with_links.path.parent), tmp_path / "p.html"
    )

    assert "the secret of the user" not in page.read_text("utf-8")
