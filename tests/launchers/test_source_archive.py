"""What of a script's folder goes to other machines, and what does not."""

from __future__ import annotations

import io
import os
import tarfile
from typing import TYPE_CHECKING

from smtc_lab.launchers import source_archive
from smtc_lab.launchers.source_archive import files_below, pack_source, source_problems

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def write(folder: Path, *names: str) -> None:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name, encoding="utf-8")


def names_below(folder: Path) -> list[str]:
    return [path.relative_to(folder).as_posix() for path in files_below(folder)]


def test_credentials_caches_environments_and_run_folders_stay_here(tmp_path: Path) -> None:
    write(tmp_path, "train.py", "parts/model.py", ".env", ".aws/credentials", "old.pyc")
    write(tmp_path, "__pycache__/train.py", "venv/pyvenv.cfg", "venv/lib/torch.py")
    write(tmp_path, "runs/demo/job.json", "runs/demo/plan.json", "runs/demo/logs/algo-1.log")

    assert names_below(tmp_path) == ["train.py", "parts/model.py"]


def test_a_link_to_a_file_travels_as_that_file_and_a_link_to_a_folder_does_not(
    tmp_path: Path,
) -> None:
    write(tmp_path, "elsewhere/shared.py", "job/train.py")
    (tmp_path / "job" / "shared.py").symlink_to("../elsewhere/shared.py")
    (tmp_path / "job" / "loop").symlink_to(tmp_path)
    (tmp_path / "job" / "broken").symlink_to("nowhere")

    assert names_below(tmp_path / "job") == ["shared.py", "train.py"]


def test_a_folder_that_is_too_large_is_refused_with_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, "train.py", "one.txt", "two.txt")

    assert source_problems(str(tmp_path / "train.py")) == []
    monkeypatch.setattr(source_archive, "MAX_SOURCE_FILES", 2)
    (problem,) = source_problems(str(tmp_path / "train.py"))
    assert "holds more than 2 files. Put the script into a folder of its own" in problem
    monkeypatch.setattr(source_archive, "MAX_SOURCE_FILES", 9)
    monkeypatch.setattr(source_archive, "MAX_SOURCE_BYTES", 10)
    (problem,) = source_problems(str(tmp_path / "train.py"))
    assert "MiB. Put the script into a folder of its own" in problem


def test_a_file_whose_name_no_archive_can_carry_is_told_before_anything_is_sent(
    tmp_path: Path,
) -> None:
    write(tmp_path, "train.py")
    (tmp_path / os.fsdecode(b"caf\xe9.txt")).touch()

    (problem,) = source_problems(str(tmp_path / "train.py"))

    assert "is not Unicode text" in problem


def test_an_archive_holds_this_package_and_the_script_and_is_always_the_same(
    tmp_path: Path,
) -> None:
    write(tmp_path, "train.py", "parts/model.py")

    packed = pack_source(str(tmp_path / "train.py"))

    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        names = archive.getnames()
    assert [name for name in names if not name.startswith("smtc_lab/")] == [
        "code/train.py",
        "code/parts/model.py",
    ]
    assert {"smtc_lab/__init__.py", "smtc_lab/catalog/instance_types.csv"} <= set(names)
    assert pack_source(str(tmp_path / "train.py")) == packed
