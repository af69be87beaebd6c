"""What two runs differ in, and a run launched again with the code that it had."""

from __future__ import annotations

import json
import subprocess
import zipfile
from typing import TYPE_CHECKING

import pytest

from smtc_lab.errors import LauncherError, SpecError
from smtc_lab.launchers.kept_source import UNPACKED, given_back, keep_source
from smtc_lab.launchers.run import launch
from smtc_lab.spec.cluster import Cluster
from smtc_lab.spec.emulation import Emulation
from smtc_lab.spec.job import TrainingJob
from smtc_lab.store.identity.source import ARCHIVE, FILE, MOST_FILES, read_source
from smtc_lab.study.experiments.run_diff import diff
from tests.kit.quick_script import QUICK_SCRIPT
from tests.kit.records import run_records
from tests.kit.run_folders import opened, write_run_folder

if TYPE_CHECKING:
    from pathlib import Path

    from smtc_lab.store.run_folder import RunFolder


@pytest.fixture
def code(tmp_path: Path) -> Path:
    """A folder with a script and what it imports."""
    folder = tmp_path / "code"
    (folder / "net").mkdir(parents=True)
    (folder / "train.py").write_text("import net.model\n")
    (folder / "net" / "model.py").write_text("WIDTH = 8\n")
    (folder / "settings.yaml").write_text("lr: 0.1\n")
    (folder / ".env").write_text("AWS_SECRET_ACCESS_KEY=hidden\n")
    (folder / "data.bin").write_bytes(b"\0" * 100)
    return folder


def written(root: Path, name: str, code: Path, **job: object) -> RunFolder:
    records = run_records(job_name=name)
    folder = write_run_folder(root, records)
    changed = records.job.model_copy(update={"entry_point": str(code / "train.py"), **job})
    folder.job_file.write_text(changed.to_json())
    keep_source(folder, str(code / "train.py"))
    return folder


def test_code_and_settings_are_kept_and_nothing_else(tmp_path: Path, code: Path) -> None:
    folder = written(tmp_path / "runs", "one", code)

    source = read_source(folder)

    assert source is not None
    assert source.script == "train.py"
    assert sorted(source.files) == ["net/model.py", "settings.yaml", "train.py"]
    assert (source.commit, source.left_out) == ("", "")
    assert (folder.path / ARCHIVE).stat().st_mode & 0o777 == 0o600


def test_of_much_code_the_script_alone_is_kept(tmp_path: Path, code: Path) -> None:
    for number in range(MOST_FILES + 1):
        (code / f"part{number}.py").touch()

    source = read_source(written(tmp_path / "runs", "one", code))

    assert source is not None
    assert list(source.files) == ["train.py"]
    assert source.left_out == "The folder of the script holds over 300 files or 2 MiB of code."


def test_a_repository_tells_commit_and_changes(tmp_path: Path, code: Path) -> None:
    def git(*arguments: str) -> str:
        own = ["-c", "user.name=a", "-c", "user.email=a@b"]
        done = subprocess.run(
            ["git", "-C", str(code), *own, *arguments], capture_output=True, check=True
        )
        return done.stdout.decode().strip()

    git("init", "-q", "-b", "work")
    git("add", "train.py")
    git("commit", "-qm", "first")
    clean = read_source(written(tmp_path / "runs", "clean", code))
    (code / "train.py").write_text("import net\n")
    changed = read_source(written(tmp_path / "runs", "changed", code))

    assert clean is not None
    assert changed is not None
    assert (clean.commit, clean.branch, clean.is_changed) == (
        *(git("rev-parse", "HEAD"), "work", False),
    )
    assert changed.is_changed


def test_what_differs_is_told_by_section(tmp_path: Path, code: Path) -> None:
    root = tmp_path / "runs"
    written(root, "one", code, hyperparameters={"lr": 0.1, "depth": 3})
    (code / "net" / "model.py").write_text("WIDTH = 16  # \u202ewide\n")
    written(root, "two", code, hyperparameters={"lr": 0.2, "depth": 3}, max_steps=5)

    found = diff("one", "two", root=root)

    rows = {(one.section, one.name): (one.first, one.second) for one in found.differences}
    assert rows["job", "hyperparameters.lr"] == ("0.1", "0.2")
    assert rows["job", "max_steps"] == ("—", "5")
    assert ("code", "net/model.py") in rows
    assert len(rows) == 3
    assert found.unknown == ("packages", "machine")
    assert "-WIDTH = 8\n+WIDTH = 16  # \ufffdwide" in found.code
    assert "hyperparameters.lr" in str(found)
    same = diff("one", "one", root=root)
    assert str(same).startswith("one and one differ in nothing that is known.")


def test_what_every_launch_of_a_study_has_is_no_difference(tmp_path: Path, code: Path) -> None:
    root = tmp_path / "runs"
    written(root, "alone", code, emulation=None)
    given_back = str(root / UNPACKED / "0123" / "train.py")
    launched = {"emulation": Emulation(time_dilation=1), "working_dir": "own"}
    written(root, "again", code, entry_point=given_back, **launched)
    slowed = {"emulation": Emulation(time_dilation=1, device_step_time_s=0.03)}
    written(root, "slowed", code, entry_point=given_back, **slowed)

    assert diff("alone", "again", root=root).differences == ()
    (told,) = diff("alone", "slowed", root=root).differences
    assert (told.name, told.values) == ("emulation.device_step_time_s", ("—", "0.03"))


def test_scripts_of_two_folders_differ(tmp_path: Path, code: Path) -> None:
    root = tmp_path / "runs"
    written(root, "one", code)
    written(root, "two", code, entry_point="/elsewhere/train.py")

    (told,) = diff("one", "two", root=root).differences

    assert told.values == (str(code / "train.py"), "/elsewhere/train.py")


@pytest.mark.parametrize("damage", ["no archive", "other content", "a path that leads out"])
def test_a_source_that_is_damaged_is_not_given_back(
    tmp_path: Path, code: Path, damage: str
) -> None:
    folder = written(tmp_path / "runs", "one", code)
    (code / "train.py").write_text("changed since\n")
    values = json.loads((folder.path / FILE).read_text())
    if damage == "no archive":
        (folder.path / ARCHIVE).unlink()
    elif damage == "other content":
        values["files"]["train.py"] = "0" * 64
    else:
        values["files"]["../../out.py"] = values["files"]["settings.yaml"]
        with zipfile.ZipFile(folder.path / ARCHIVE, "a") as archive:
            archive.writestr("../../out.py", (code / "settings.yaml").read_text())
    (folder.path / FILE).write_text(json.dumps(values))

    with pytest.raises(LauncherError, match=r"is damaged|Refused"):
        given_back(folder, str(code / "train.py"))

    assert not (tmp_path / "out.py").exists()
    assert opened(folder).clone(max_steps=3).max_steps == 3


@pytest.mark.timeout(60)
def test_a_run_is_launched_again_with_the_code_that_it_had(tmp_path: Path) -> None:
    script = tmp_path / "code" / "train.py"
    script.parent.mkdir()
    script.write_text(f'print("THE FIRST")\n{QUICK_SCRIPT}')
    job = TrainingJob(
        entry_point=str(script),
        cluster=Cluster.parse("a=local:1"),
        max_steps=2,
        arguments=("--lr", "0.1"),
    )
    first = launch(job, root=tmp_path / "runs").wait()
    script.write_text("raise SystemExit('changed since')\n")

    with pytest.raises(SpecError, match=r"hyperparameters has 'lr', but .* argument --lr"):
        first.clone(hyperparameters={"lr": 0.5})
    again = first.again(max_steps=3).wait()

    assert again.job_name != first.job_name
    assert again.status == "Completed"
    assert "THE FIRST" in again.logs()
    assert len(again.records().steps["algo-1-rank0"]) == 3
    assert UNPACKED in again.job.entry_point
    names = {(one.section, one.name) for one in diff(first, again).differences}
    assert names == {("job", "max_steps")}
