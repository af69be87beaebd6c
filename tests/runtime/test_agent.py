"""One instance, run by a real agent."""

from __future__ import annotations

import itertools
import json
import os
import signal
import subprocess
import sys
import textwrap
from typing import TYPE_CHECKING, Any

import pytest

import smtc_lab
from smtc_lab.instance.description import InstanceDescription, Rendezvous, trainers_of
from smtc_lab.machine.processes import descendants
from smtc_lab.metrics.records.records import StepRecord, SystemSample
from smtc_lab.store.reader import read_records
from smtc_lab.store.run_folder import RunFolder
from tests.kit.runs import PATIENCE_S, wait_until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


class Instance:
    """An agent with its instance, and the lifeline that holds both."""

    def __init__(self, folder: RunFolder, environment: dict[str, str]) -> None:
        self.folder = folder
        self.agent = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "smtc_lab.runtime.agent",
                str(folder.agent_file("algo-1")),
            ],
            stdin=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "SMTC_RUN_ID": str(folder.path), **environment},
        )

    @property
    def log(self) -> str:
        return self.log_of(None)

    def log_of(self, rank: int | None) -> str:
        path = self.folder.log_file("algo-1", rank)
        return path.read_text(encoding="utf-8") if path.exists() else ""

    def await_work(self) -> None:
        wait_until(lambda: "working" in self.log, what="the begin of the entry point")

    def end(self) -> dict[str, Any]:
        """Wait for the end of the agent and return what it wrote of the entry point's."""
        code = self.agent.wait(PATIENCE_S)
        text = self.folder.exit_file("algo-1").read_text(encoding="utf-8")
        ended: dict[str, Any] = json.loads(text)
        assert code == ended["exit_code"]
        return ended


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Instance]]:
    """Start an agent whose entry point is a Python program."""
    instances: list[Instance] = []

    def start_instance(  # noqa: PLR0913  what an agent is told, by name
        program: str,
        *,
        cpu_quota_cores: float | None = None,
        passes_outside_quota: bool = False,
        hyperparameters: dict[str, object] | None = None,
        prepare: Callable[[RunFolder], None] = lambda _: None,
        python: str | Path = sys.executable,
        package_version: str = smtc_lab.__version__,
        num_trainers: int = 1,
        command: tuple[str, ...] = (),
        grace_s: float = PATIENCE_S,
        **environment: str,
    ) -> Instance:
        folder = RunFolder.create(tmp_path / "runs", f"train-{len(instances)}")
        folder.instance("algo-1").mkdir()
        prepare(folder)
        told = InstanceDescription(
            run_folder=str(folder.path),
            host="algo-1",
            hosts={"algo-1": "127.70.1.1", "algo-2": "127.70.1.2"},
            instance_groups=(("dnn", "ml.p3.2xlarge", 1), ("data", "ml.c5.9xlarge", 1)),
            trainers=trainers_of(range(num_trainers)),
            rendezvous=Rendezvous(host="algo-1", world_size=num_trainers, group_rank=0),
            package_version=package_version,
            command=command or (str(python), "-c", textwrap.dedent(program)),
            hyperparameters=hyperparameters or {},
            channels={"training": str(tmp_path)},
            environment={},
            num_cpus=3,
            num_gpus=0,
            cpu_quota_cores=cpu_quota_cores,
            passes_outside_quota=passes_outside_quota,
            grace_s=grace_s,
        )
        folder.agent_file("algo-1").write_text(told.to_json(), encoding="utf-8")
        instances.append(Instance(folder, environment))
        return instances[-1]

    yield start_instance
    for instance in instances:
        with instance.agent as agent:
            agent.kill()


def test_the_entry_points_exit_code_is_the_agents(start: Callable[..., Instance]) -> None:
    ended = start("raise SystemExit(3)").end()

    assert ended["exit_code"] == 3
    assert ended["signal"] is None
    assert not ended["asked_to_stop"]
    assert ended["cpu_quota_mechanism"] == "none"
    assert ended["problems"] == []


def test_a_signal_that_ended_the_entry_point_is_told(start: Callable[..., Instance]) -> None:
    ended = start("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)").end()

    assert (ended["exit_code"], ended["signal"]) == (128 + signal.SIGSEGV, signal.SIGSEGV)


def test_the_end_of_the_lifeline_ends_the_instance_in_good_order(
    start: Callable[..., Instance],
) -> None:
    program = """
        import signal, sys, time
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(7))
        print("working", flush=True)
        time.sleep(600)
    """
    instance = start(program)
    instance.await_work()
    assert instance.agent.stdin is not None

    instance.agent.stdin.close()
    ended = instance.end()

    assert (ended["exit_code"], ended["asked_to_stop"]) == (7, True)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_an_instance_that_ignores_it(
    start: Callable[..., Instance], number: int
) -> None:
    program = """
        import os, signal, time
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        if os.fork() == 0:
            os.setsid()
        else:
            print("working", flush=True)
        time.sleep(600)
    """
    instance = start(program, grace_s=0.3)
    instance.await_work()
    below = descendants(instance.agent.pid)

    instance.agent.send_signal(number)
    ended = instance.end()

    assert (ended["signal"], ended["asked_to_stop"]) == (signal.SIGKILL, True)
    assert len(below) == 2
    assert not set(below) & set(descendants(1))


def test_the_entry_point_sees_sagemakers_environment(start: Callable[..., Instance]) -> None:
    program = """
        import json, os, socket, sys
        print(json.dumps({"env": dict(os.environ), "arguments": sys.argv[1:]}))
    """
    instance = start(program, hyperparameters={"lr": 0.5, "name": "a b"})
    instance.end()

    said = json.loads(instance.log)
    seen = said["env"]
    assert said["arguments"] == ["--lr", "0.5", "--name", "a b"]
    assert (seen["SM_CURRENT_HOST"], seen["SM_NUM_CPUS"]) == ("algo-1", "3")
    assert json.loads(seen["SM_HOSTS"]) == ["algo-1", "algo-2"]
    assert seen["SM_CURRENT_INSTANCE_GROUP"] == "dnn"
    assert json.loads(seen["SM_HPS"]) == {"lr": 0.5, "name": "a b"}
    assert seen["SAGEMAKER_BASE_DIR"] == str(instance.folder.opt_ml("algo-1"))
    assert seen["SM_CHANNEL_TRAINING"].startswith(seen["SAGEMAKER_BASE_DIR"])
    assert seen["TRAINING_JOB_NAME"] == "train-0"
    threads = {name: seen[name] for name in seen if name.endswith("_NUM_THREADS")}
    assert threads == dict.fromkeys(threads, "3")
    assert {"OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"} <= set(threads)
    hosts = (instance.folder.instance("algo-1") / "hosts").read_text(encoding="utf-8")
    assert hosts.startswith("127.70.1.1\talgo-1\n127.70.1.2\talgo-2\n")


def test_a_quota_begins_when_the_entry_point_says_that_it_is_ready(
    start: Callable[..., Instance], tmp_path: Path
) -> None:
    program = """
        import os, time
        print("working", flush=True)
        while not os.path.exists(os.environ["GO_ON"]):
            time.sleep(0.01)
        os.write(int(os.environ["SMTC_READY_FD"]), b"ready\\n")
        time.sleep(600)
    """
    instance = start(program, cpu_quota_cores=0.25, GO_ON=str(tmp_path / "go_on"))
    path = instance.folder.records / "algo-1-system.sqlite"

    def quotas() -> set[float | None]:
        return {sample.cpu_quota_cores for sample in read_records(path, SystemSample)[0]}

    wait_until(lambda: quotas() == {None}, what="a sample without quota")
    (tmp_path / "go_on").touch()
    wait_until(lambda: quotas() == {None, 0.25}, what="a sample with the quota")
    instance.agent.terminate()

    assert instance.end()["cpu_quota_mechanism"] in {"cgroup-v2", "cgroup-v1", "duty-cycle"}


def test_a_quota_ends_when_the_entry_point_says_that_it_is_done(
    start: Callable[..., Instance], tmp_path: Path
) -> None:
    program = """
        import os, time
        ready = int(os.environ["SMTC_READY_FD"])
        for word in (b"ready\\n", b"done\\n"):
            while not os.path.exists(os.environ["GO_ON"] + word.decode().strip()):
                time.sleep(0.01)
            os.write(ready, word)
        time.sleep(600)
    """
    instance = start(program, cpu_quota_cores=0.25, GO_ON=f"{tmp_path}/")
    path = instance.folder.records / "algo-1-system.sqlite"

    def quotas() -> list[float | None]:
        """Return the quotas of the samples, each as often as it changes."""
        found = [sample.cpu_quota_cores for sample in read_records(path, SystemSample)[0]]
        return [each for each, _ in itertools.groupby(found)]

    wait_until(lambda: quotas() == [None], what="a sample without quota")
    (tmp_path / "ready").touch()
    wait_until(lambda: quotas() == [None, 0.25], what="a sample with the quota")
    (tmp_path / "done").touch()
    wait_until(lambda: quotas() == [None, 0.25, None], what="a sample behind the quota")
    instance.agent.terminate()

    assert instance.end()["asked_to_stop"]


def test_a_quota_ends_when_the_last_trainer_is_done(
    start: Callable[..., Instance], tmp_path: Path
) -> None:
    program = """
        import os, time
        ready = int(os.environ["SMTC_READY_FD"])
        os.write(ready, b"ready\\n")
        while os.environ["RANK"] == "1" and not os.path.exists(os.environ["GO_ON"]):
            time.sleep(0.01)
        os.write(ready, b"done\\n")
        print("done", flush=True)
        if os.environ["RANK"] == "1":
            time.sleep(600)
    """
    instance = start(
        program, num_trainers=2, cpu_quota_cores=0.25, GO_ON=str(tmp_path / "go_on")
    )
    path = instance.folder.system_records("algo-1")

    def quotas() -> list[float | None]:
        return [sample.cpu_quota_cores for sample in read_records(path, SystemSample)[0]]

    wait_until(lambda: "done" in instance.log_of(0), what="the first trainer")
    limited = quotas().count(0.25)
    wait_until(lambda: quotas()[-1:] == [0.25], what="a sample with the quota")
    wait_until(lambda: quotas().count(0.25) > limited + 1, what="another one")
    (tmp_path / "go_on").touch()
    wait_until(lambda: quotas()[-1] is None, what="a sample behind the quota")
    instance.agent.terminate()

    assert instance.end()["asked_to_stop"]


@pytest.mark.parametrize("mechanism", ["", "duty-cycle"])
def test_passes_that_stand_for_a_device_are_outside_the_quota_and_data_workers_are_not(
    start: Callable[..., Instance], mechanism: str
) -> None:
    program = """
        import multiprocessing, os, time
        from smtc_lab.machine.quota.members import limit_children

        limit_children()
        worker = multiprocessing.get_context("fork").Process(target=time.sleep, args=(600,))
        worker.start()
        for pid in (os.getpid(), worker.pid):
            with open(f"/proc/{pid}/cgroup") as file:
                print(pid, "smtc-" in file.read(), flush=True)
        model = bytearray(10**8)
        os.write(int(os.environ["SMTC_READY_FD"]), b"ready\\n")
        while True:
            pass
    """
    instance = start(
        program, cpu_quota_cores=0.25, passes_outside_quota=True, SMTC_CPU_QUOTA=mechanism
    )
    path = instance.folder.system_records("algo-1")

    def limited() -> list[SystemSample]:
        return [each for each in read_records(path, SystemSample)[0] if each.cpu_quota_cores]

    wait_until(lambda: len(limited()) > 2, what="samples with the quota")
    sample = limited()[-1]
    instance.agent.terminate()

    joins = instance.end()["cpu_quota_mechanism"].startswith("cgroup")
    assert [line.split()[1] for line in instance.log.splitlines()] == ["False", str(joins)]
    assert sample.cpu_used_s < 0.1 * sample.interval_s  # a data worker that sleeps
    assert sample.memory_bytes > 1e8  # the trainer's, too


def test_an_agent_that_cannot_work_says_why(start: Callable[..., Instance]) -> None:
    ended = start("pass", SMTC_CPU_QUOTA="magic").end()

    assert ended["exit_code"] == 1
    (problem,) = ended["problems"]
    assert problem.startswith("The agent of algo-1 failed: OSError: SMTC_CPU_QUOTA='magic'")


def test_an_agent_whose_interpreter_is_gone_says_so(
    start: Callable[..., Instance], tmp_path: Path
) -> None:
    ended = start("pass", python=tmp_path / "gone" / "python").end()

    (problem,) = ended["problems"]
    assert "its interpreter" in problem
    assert "is gone. Bring its environment back" in problem


def test_an_agent_of_another_version_refuses(start: Callable[..., Instance]) -> None:
    instance = start("print('ran')", package_version="0.0.1")

    (problem,) = instance.end()["problems"]

    assert "but 0.0.1 launched it. Install the same version" in problem
    assert instance.log == ""


def test_records_that_cannot_be_kept_are_a_problem_of_the_instance(
    start: Callable[..., Instance],
) -> None:
    def block(folder: RunFolder) -> None:
        (folder.records / "algo-1-system.sqlite").mkdir()

    ended = start("pass", prepare=block).end()

    assert ended["exit_code"] == 0
    assert "algo-1-system.sqlite' cannot be made" in ended["problems"][0]


TWO_TRAINERS = """
    import os

    import torch
    from torch import distributed

    import smtc_lab as lab

    session = lab.Session()
    distributed.init_process_group("gloo")
    model = torch.nn.Linear(2, 1)
    for batch in session.steps([torch.ones(4, 2)] * 3):
        model(batch)
    ranks = torch.tensor([float(session.rank + 1)])
    distributed.all_reduce(ranks)
    place = [os.environ[name] for name in ("LOCAL_RANK", "GROUP_RANK", "LOCAL_WORLD_SIZE")]
    print(session.rank, session.world_size, *place, "sum", int(ranks))
    print("threads", os.environ["OMP_NUM_THREADS"])
    session.save_checkpoint(step=3, rank=session.rank)
    print("kept", session.load_checkpoint())
    distributed.destroy_process_group()
"""


def test_two_trainers_of_an_instance_train_together_and_keep_apart_what_is_theirs(
    start: Callable[..., Instance], tmp_path: Path
) -> None:
    script = tmp_path / "train.py"
    script.write_text(textwrap.dedent(TWO_TRAINERS), encoding="utf-8")

    instance = start(
        "",
        num_trainers=2,
        command=(sys.executable, "-m", "smtc_lab.runtime.run_script", str(script)),
    )
    ended = instance.end()

    assert ended["problems"] == []
    assert ended["exit_code"] == 0, instance.log_of(0) + instance.log_of(1)
    assert instance.log == ""
    for rank in (0, 1):
        lines = instance.log_of(rank).splitlines()
        assert f"{rank} 2 {rank} 0 2 sum 3" in lines
        assert "threads 1" in lines
        assert f"kept ({{'rank': {rank}}}, 3)" in lines
        records, _ = read_records(instance.folder.rank_records("algo-1", rank), StepRecord)
        assert [record.step for record in records] == [0, 1, 2]


def test_a_trainer_that_fails_ends_the_others_of_its_instance_and_is_named(
    start: Callable[..., Instance],
) -> None:
    program = """
        import os, sys, time
        if os.environ["RANK"] == "1":
            sys.exit(3)
        time.sleep(600)
    """
    instance = start(program, num_trainers=2)

    ended = instance.end()

    assert (ended["exit_code"], ended["rank"], ended["asked_to_stop"]) == (3, 1, False)
    assert not descendants(instance.agent.pid)


def test_an_instance_has_ended_well_when_all_its_trainers_have(
    start: Callable[..., Instance], tmp_path: Path
) -> None:
    program = """
        import os, time
        print("working", flush=True)
        while os.environ["RANK"] == "1" and not os.path.exists(os.environ["GO_ON"]):
            time.sleep(0.01)
    """
    instance = start(program, num_trainers=2, GO_ON=str(tmp_path / "go_on"))
    wait_until(lambda: len(descendants(instance.agent.pid)) == 1, what="the end of rank 0")
    assert instance.agent.poll() is None

    (tmp_path / "go_on").touch()
    ended = instance.end()

    assert (ended["exit_code"], ended["rank"]) == (0, None)


def test_a_quota_begins_when_the_last_trainer_is_ready(
    start: Callable[..., Instance], tmp_path: Path
) -> None:
    program = """
        import os, time
        while os.environ["RANK"] == "1" and not os.path.exists(os.environ["GO_ON"]):
            time.sleep(0.01)
        os.write(int(os.environ["SMTC_READY_FD"]), b"ready\\n")
        print("said", flush=True)
        time.sleep(600)
    """
    instance = start(
        program, num_trainers=2, cpu_quota_cores=0.25, GO_ON=str(tmp_path / "go_on")
    )
    path = instance.folder.system_records("algo-1")

    def quotas() -> set[float | None]:
        return {sample.cpu_quota_cores for sample in read_records(path, SystemSample)[0]}

    wait_until(lambda: "said" in instance.log_of(0), what="the first trainer")
    wait_until(lambda: quotas() == {None}, what="a sample without quota")
    (tmp_path / "go_on").touch()
    wait_until(lambda: quotas() == {None, 0.25}, what="a sample with the quota")
    instance.agent.terminate()

    assert instance.end()["asked_to_stop"]
