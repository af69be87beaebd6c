"""The instances of a JobSet really run, with real processes; Kubernetes is the test itself.

Each pod is a process of this machine with the pod's variables. It looks names up in a table
instead of asking a name server.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from smtc_lab.errors import LauncherError
from smtc_lab.launchers.render import pod_start
from smtc_lab.launchers.render.dns_names import pod_hosts
from smtc_lab.store.reader import read_run
from smtc_lab.store.run_folder import RunFolder
from tests.kit.joined_script import JOINED_SCRIPT, said_by_ranks
from tests.kit.quick_script import QUICK_SCRIPT, SERVES
from tests.kit.runs import processes_after

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from smtc_lab.spec.job import TrainingJob

    MakeJob = Callable[..., TrainingJob]
    StartPod = Callable[..., "subprocess.Popen[str]"]

POD = """\
import json, pathlib, signal, socket, sys
from smtc_lab.launchers.render import pod_start
root, secret, known = sys.argv[1:]
known, plain, asked = json.loads(known), socket.getaddrinfo, []
def getaddrinfo(name, *args, **kwargs):
    asked.append(name)
    if name not in known or len(asked) == 1:  # no pod has an address at first
        raise socket.gaierror(f"{name} is not known")
    return plain(known[name], *args, **kwargs)
socket.getaddrinfo = getaddrinfo
pod_start.SECRET_FILE = pathlib.Path(secret)
sys.exit(pod_start.main(root))
"""
TRAINER, DATA = {"group": "dnn_group", "index": 0}, {"group": "data_group", "index": 1}


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    return RunFolder(tmp_path / "claim" / "runs" / "demo")


@pytest.fixture
def start_pod(tmp_path: Path, folder: RunFolder) -> Iterator[StartPod]:
    """Start one pod; what still runs at the end of the test is ended."""
    started: list[subprocess.Popen[str]] = []
    secret = tmp_path / "secret"
    secret.write_bytes(b"s" * 32)

    def start(
        job: TrainingJob, *, group: str, index: int, knows_names: bool = True
    ) -> subprocess.Popen[str]:
        names = pod_hosts(job) if knows_names else []
        known = {name: f"127.86.2.{n}" for n, name in enumerate(names, start=1)}
        process = subprocess.Popen(
            [sys.executable, "-c", POD, folder.path.parent, secret, json.dumps(known)],
            env={
                **os.environ,
                "SMTC_JOB": job.to_json(indent=None),
                "SMTC_INSTANCE_GROUP": group,
                "JOB_COMPLETION_INDEX": str(index),
            },
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        started.append(process)
        return process

    yield start
    for process in started:
        process.terminate()
        process.communicate(timeout=60)


def awaited(process: subprocess.Popen[str], text: str) -> str:
    """Return what a pod prints up to a text."""
    said = ""
    assert process.stdout is not None
    while text not in said:
        line = process.stdout.readline()
        assert line, said
        said += line
    return said


def test_pods_train_and_serve_and_leave_their_records_on_the_claim(
    make_job: MakeJob, start_pod: StartPod, folder: RunFolder
) -> None:
    job = make_job(QUICK_SCRIPT, max_steps=20, num_data_workers=2)
    data, trainer = start_pod(job, **DATA), start_pod(job, **TRAINER)

    trained, _ = trainer.communicate(timeout=60)
    serves = f"smtc-lab: algo-3 {SERVES} 2 data workers\n"
    begun = awaited(data, serves)
    data.send_signal(signal.SIGTERM)  # as Kubernetes does once the success policy holds
    data.communicate(timeout=60)

    assert (trainer.returncode, data.returncode) == (0, 0)
    waiting = "smtc-lab: waiting for demo-dnn-group-0-0.demo\n"
    assert trained == f"{waiting}begun\n"
    assert begun == f"{waiting}{serves}"
    assert len(read_run(folder).steps["algo-1-rank0"]) == 20
    assert folder.secret_file.read_bytes() == b"s" * 32
    assert processes_after(folder.path) == {}


def test_a_pod_ends_as_its_script_does_and_says_why(
    make_job: MakeJob, start_pod: StartPod, folder: RunFolder
) -> None:
    process = start_pod(make_job("print('no data'); raise SystemExit(3)"), **TRAINER)

    said, _ = process.communicate(timeout=60)

    assert (process.returncode, said.splitlines()[-1]) == (3, "no data")
    assert processes_after(folder.path) == {}


def test_a_pod_that_waits_for_others_can_be_ended(
    make_job: MakeJob, start_pod: StartPod
) -> None:
    process = start_pod(make_job(), **TRAINER, knows_names=False)
    awaited(process, "waiting for demo-dnn-group-0-0.demo")

    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=60)

    assert process.returncode == 128 + signal.SIGTERM


def test_a_second_run_of_a_name_does_not_mix_with_the_first(
    make_job: MakeJob, folder: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder.instance("algo-1").mkdir(parents=True)
    monkeypatch.setattr(
        socket, "getaddrinfo", lambda *_, **__: [(2, 1, 6, "", ("127.0.0.1", 0))]
    )
    pod = {
        "SMTC_JOB": make_job().to_json(),
        "SMTC_INSTANCE_GROUP": "dnn_group",
        "JOB_COMPLETION_INDEX": "0",
    }

    with pytest.raises(LauncherError, match=r"already holds a run named 'demo'\. Give the job"):
        pod_start.run(folder.path.parent, pod)


def test_every_pod_has_its_trainers_and_all_train_one_model(
    make_job: MakeJob, start_pod: StartPod, folder: RunFolder
) -> None:
    job = make_job(JOINED_SCRIPT, cluster="train=ml.c5.9xlarge:2", distribution={"data": 4})
    pods = [start_pod(job, group="train", index=index) for index in (0, 1)]

    said = [pod.communicate(timeout=240)[0] for pod in pods]

    assert [pod.returncode for pod in pods] == [0, 0], said
    ranks = said_by_ranks("\n".join(said))
    assert [rank[0] for rank in ranks] == [0, 1, 2, 3]
    assert len({rank[3] for rank in ranks}) == 1
    assert processes_after(folder.path) == {}
