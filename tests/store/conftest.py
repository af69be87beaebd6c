"""Run folders, and a disk that is nearly full."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

import pytest

from smtc_lab.spec.cluster import Cluster
from smtc_lab.spec.job import TrainingJob
from smtc_lab.store.run_folder import RunFolder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

SMALL_DISK = "2m"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "runs"


@pytest.fixture
def make_run(root: Path) -> Callable[[str], RunFolder]:
    def make(name: str) -> RunFolder:
        folder = RunFolder.create(root, name)
        job = TrainingJob(
            entry_point="train.py",
            cluster=Cluster.parse("dnn_group=ml.p3.2xlarge:1"),
            job_name=name,
        )
        folder.job_file.write_text(job.to_json(), encoding="utf-8")
        return folder

    return make


@pytest.fixture
def run_folder(make_run: Callable[[str], RunFolder]) -> RunFolder:
    return make_run("train-1")


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """Return a folder on a file system of 2 MiB of its own."""
    place = tmp_path / "disk"
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={SMALL_DISK}", "tmpfs", str(place)]
    if os.geteuid() != 0:
        pytest.skip("a full disk is tried on a tmpfs, which only root may mount")
    mounted = subprocess.run(command, capture_output=True, text=True, check=False)
    if mounted.returncode != 0:
        pytest.skip(f"a full disk is tried on a tmpfs, which did not mount: {mounted.stderr}")
    yield place
    subprocess.run(["umount", "--lazy", str(place)], check=True)


@pytest.fixture
def fill() -> Callable[[Path], Path]:
    """Return a function that takes all space of a disk and returns the file that has it."""

    def fill_disk(place: Path) -> Path:
        filler = place / "filler"
        with filler.open("ab", buffering=0) as file:
            for size in (65_536, 4_096):
                try:
                    while True:
                        file.write(b"x" * size)
                except OSError:
                    continue
        return filler

    return fill_disk
