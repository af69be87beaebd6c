"""Another user of the same machine: S2."""

from __future__ import annotations

import contextlib
import os
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import torch
from torch.utils.data import Dataset

from smtc_lab.launchers.local.launcher import LocalLauncher
from smtc_lab.launchers.local.run import write_run
from smtc_lab.spec.cluster import Cluster
from smtc_lab.spec.job import TrainingJob
from smtc_lab.store.run_folder import RunFolder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

NOBODY = 65534
"""A user without any right; no account is needed."""

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root can act as another user")


class Large(Dataset[Any]):
    """Samples that go through shared memory."""

    def __len__(self) -> int:
        return 8

    def __getitem__(self, index: int) -> torch.Tensor:
        return torch.full((2**18,), float(index))


def opened(paths: Iterable[Path], *, user: int) -> set[Path]:
    """Return the files that a user can open to read."""
    return {
        path
        for path in paths
        if subprocess.run(
            ["head", "-c", "0", path],
            user=user,
            group=user,
            extra_groups=[],
            stderr=subprocess.DEVNULL,
            check=False,
        ).returncode
        == 0
    }


def shared_memory_of(pid: int) -> set[Path]:
    """Return the memory files that a process has open."""
    found = set()
    for path in Path(f"/proc/{pid}/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):  # closed meanwhile
            if str(path.readlink()).startswith("/memfd:smtc_lab batches"):
                found.add(path)
    return found


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """Return a folder that everybody may enter, so that a run must protect itself."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        yield folder


def test_another_user_cannot_read_the_memory_of_batches_or_processes(
    place_at: Callable[..., Any],
) -> None:
    loader = place_at("server and local", Large(), batch_size=2)
    batches = iter(loader)
    next(batches)
    pids = [os.getpid(), *loader._client.local_pids]
    shared = set().union(*map(shared_memory_of, pids))
    private = {Path(f"/proc/{pid}/{part}") for pid in pids for part in ("mem", "environ")}

    assert len(shared) >= 2
    assert opened(shared | private, user=0) == shared | private
    assert opened(shared | private, user=NOBODY) == set()


def test_another_user_cannot_read_the_secret_even_if_the_folder_is_opened(
    open_folder: Path,
) -> None:
    script = open_folder / "train.py"
    script.touch()
    cluster = Cluster.parse("dnn_group=ml.p3.2xlarge:1")
    job = TrainingJob(entry_point=str(script), cluster=cluster)
    root = open_folder / "runs"
    before = os.umask(0)
    try:
        folder = RunFolder.create(root, "train-1")
        write_run(folder, LocalLauncher(root=root).plan(job))
    finally:
        os.umask(before)
    secret = folder.secret_file

    assert opened([secret], user=0) == {secret}
    assert opened([secret], user=NOBODY) == set()
    for part in (root, folder.path):
        part.chmod(0o755)
    assert opened([folder.plan_file], user=NOBODY) == {folder.plan_file}
    assert opened([secret], user=NOBODY) == set()
