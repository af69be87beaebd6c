"""The process of a data instance: it serves until it is told to stop, and runs no script."""

from __future__ import annotations

import os
import secrets
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import torch

from smtc_lab.dataservice.dataloader import DataLoader
from smtc_lab.dataservice.placement import ServerAddress
from smtc_lab.instance.context import READY_WORD
from smtc_lab.machine.processes import descendants
from smtc_lab.metrics.records.records import EventRecord
from smtc_lab.runtime.data_instance import DATA_PORT
from smtc_lab.store.reader import read_records
from smtc_lab.store.run_folder import RunFolder
from tests.kit.runs import PATIENCE_S, wait_until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Start = Callable[..., "DataInstance"]

ADDRESS = f"127.62.{os.getpid() >> 8 & 0xFF}.{1 + os.getpid() % 254}"
"""Nobody else's, as the port is fixed."""

SECRET = secrets.token_bytes(32)

# What an interpreter does at its end, which nobody is to wait for.
AT_THE_END = """
import atexit, sys

class Module:
    def __del__(self):
        sys.__stdout__.write("taken apart\\n")

sys.modules["kept"] = Module()
atexit.register(print, "left")
"""

SERVES = "smtc-lab: algo-2 serves each dataloader of the trainers with 2 data workers\n"


class DataInstance:
    """One that was started, and what it leaves behind."""

    def __init__(self, folder: RunFolder, script: Path, **told: str) -> None:
        self.folder = folder
        ready, said = os.pipe()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "smtc_lab.runtime.run_script", str(script)],
            env={
                **os.environ,
                "SMTC_RUN_ID": str(folder.path),
                "SMTC_ROLE": "data",
                "SMTC_ADDRESS": ADDRESS,
                "SMTC_NUM_WORKERS": "2",
                "SMTC_READY_FD": str(said),
                "SM_CURRENT_HOST": "algo-2",
                "SAGEMAKER_BASE_DIR": str(folder.opt_ml("algo-2")),
                **told,
            },
            cwd=script.parent,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            pass_fds=[said],
        )
        os.close(said)
        self.ready = ready

    def next_line(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline()

    def end(self) -> tuple[int, str, str]:
        """Return its exit code and what it has still said, once it has ended."""
        printed, errors = self.process.communicate(timeout=PATIENCE_S)
        return self.process.returncode, printed, errors

    def failure(self) -> str:
        return self.folder.failure_file("algo-2").read_text(encoding="utf-8")


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Start the process of a data instance; it ends with the test."""
    started = []

    def start_one(*, secret: bytes | None = SECRET, **told: str) -> DataInstance:
        folder = RunFolder.create(tmp_path / "runs", "train-1")
        folder.failure_file("algo-2").parent.mkdir(parents=True)
        if secret is not None:
            folder.secret_file.write_bytes(secret)
        script = tmp_path / "train.py"
        script.write_text("open('ran', 'w').close()", encoding="utf-8")
        started.append(DataInstance(folder, script, **told))
        return started[-1]

    yield start_one
    for each in started:
        each.process.kill()
        each.end()
        os.close(each.ready)


def test_it_serves_until_sigterm_and_leaves_no_process_no_trace_of_the_script_and_no_wait(
    start: Start, tmp_path: Path
) -> None:
    (tmp_path / "sitecustomize.py").write_text(AT_THE_END, encoding="utf-8")
    path = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])
    instance = start(PYTHONPATH=path)
    assert instance.next_line() == SERVES
    assert os.read(instance.ready, 64) == READY_WORD

    server = ServerAddress(ADDRESS, DATA_PORT)
    numbers: Any = torch.arange(8)
    loader: DataLoader[Any] = DataLoader(
        numbers, batch_size=2, servers=[server], secret=SECRET, num_local_workers=0
    )
    batches = iter(loader)
    got = [next(batches).tolist()]
    # what opened the dataset, and two data workers, the second of which comes after the first
    wait_until(lambda: len(descendants(instance.process.pid)) == 3, what="its processes")
    below = descendants(instance.process.pid)
    got += [batch.tolist() for batch in batches]
    os.kill(instance.process.pid, signal.SIGTERM)

    assert got == [[0, 1], [2, 3], [4, 5], [6, 7]]
    assert instance.end() == (0, "left\n", "")
    wait_until(
        lambda: not any(Path("/proc", str(pid)).exists() for pid in below),
        what="the end of its processes",
    )
    assert not (tmp_path / "ran").exists()
    assert not instance.folder.failure_file("algo-2").exists()
    loader.close()


def test_sigterm_ends_it_also_before_it_serves(start: Start, tmp_path: Path) -> None:
    (tmp_path / "torch.py").write_text(
        "import os, signal; os.kill(os.getpid(), signal.SIGTERM); signal.pause()"
    )
    path = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])

    assert start(PYTHONPATH=path).end() == (0, "", "")


def test_sigterm_ends_it_also_with_trainers_connected(start: Start) -> None:
    instance = start()
    assert instance.next_line() == SERVES
    numbers: Any = torch.arange(1024)
    loader: DataLoader[Any] = DataLoader(
        numbers,
        servers=[ServerAddress(ADDRESS, DATA_PORT)],
        secret=SECRET,
        num_local_workers=0,
    )
    batches = iter(loader)
    next(batches)

    os.kill(instance.process.pid, signal.SIGTERM)

    code, printed, _ = instance.end()
    assert (code, printed) == (0, "")
    loader.close()


def test_what_it_tells_is_recorded_as_its_own(start: Start) -> None:
    instance = start()
    assert instance.next_line() == SERVES

    with socket.create_connection((ADDRESS, DATA_PORT)) as stranger:
        stranger.sendall(b"GET / HTTP/1.1\r\n" * 8)
        said = instance.next_line()
    os.kill(instance.process.pid, signal.SIGTERM)

    assert instance.end()[0] == 0
    assert said.startswith("smtc-lab: refused a peer from ")
    records = instance.folder.records / "algo-2-data0.sqlite"
    (event,) = read_records(records, EventRecord)[0]
    assert (event.host, event.kind) == ("algo-2", "data")
    assert said == f"smtc-lab: {event.message}\n"


def test_without_its_jobs_secret_it_says_what_to_do(start: Start) -> None:
    instance = start(secret=None)

    code, printed, errors = instance.end()

    assert (code, printed) == (1, "")
    assert "algo-2 cannot read the secret of its job, so it cannot serve." in errors
    assert "Give its process the folder of the run" in instance.failure()


def test_a_port_that_is_taken_is_named(start: Start) -> None:
    with socket.create_server((ADDRESS, DATA_PORT)):
        instance = start()
        code, printed, _ = instance.end()

    assert (code, printed) == (1, "")
    said = f"A data server cannot listen on {ADDRESS}:{DATA_PORT} (Address already in use)."
    assert said in instance.failure()
