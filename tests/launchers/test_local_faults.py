"""However a run ends, it ends with one clear message, and nothing of it is left after 3 s."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from typing import TYPE_CHECKING

import pytest

from smtc_lab.errors import RunFailedError, SpecError
from smtc_lab.launchers.run import Run, launch
from smtc_lab.launchers.supervision import begin, supervised
from smtc_lab.store.run_folder import find_runs
from smtc_lab.store.state import current_state
from tests.kit.quick_script import SERVES
from tests.kit.runs import PATIENCE_S, log_of, processes_after, processes_of, wait_until

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from smtc_lab.spec.job import TrainingJob

    MakeJob = Callable[..., TrainingJob]
    Start = Callable[..., Run]


HETEROGENEOUS = "dnn_group=ml.p3.2xlarge:1,data_group=ml.c5.9xlarge:2"
FOREVER = """
    import time
    print("working", flush=True)
    while True:
        time.sleep(3600)
"""
STUBBORN_FAMILY = """
    import os, signal, time
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    for _ in range(3):
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                signal.signal(signal.SIGTERM, signal.SIG_IGN)
                time.sleep(3600)
            os._exit(0)
    print("working", flush=True)
    time.sleep(3600)
"""


def works_everywhere(run: Run) -> bool:
    hosts = run.job.cluster.hosts()
    if not all(run.folder.log_file(host).is_file() for host in hosts):
        return False
    said = map(run.logs, hosts)
    return all("working" in each or SERVES in each for each in said)


def test_a_family_that_ignores_sigterm_and_daemonises_is_ended(
    make_job: MakeJob, start: Start
) -> None:
    run = start(make_job(STUBBORN_FAMILY))
    # The supervisor, the agent, the script and three daemons; the children between the script
    # and its daemons end by themselves.
    wait_until(
        lambda: works_everywhere(run) and len(processes_of(run.folder.path)) == 6,
        what="the start of the family",
    )

    run.stop()

    assert processes_after(run.folder.path) == {}


def test_kill_9_of_an_agent_fails_the_run_and_names_the_instance(
    make_job: MakeJob, start: Start
) -> None:
    run = start(make_job(STUBBORN_FAMILY, cluster=HETEROGENEOUS))
    wait_until(lambda: works_everywhere(run), what="the start of every instance")
    agent = [
        pid for pid in processes_of(run.folder.path) if log_of(pid).endswith(".agent.log")
    ][-1]

    os.kill(agent, signal.SIGKILL)

    with pytest.raises(
        RunFailedError, match=r"agent of algo-\d \(\w+\) was killed by signal 9"
    ):
        run.wait(PATIENCE_S)
    assert processes_after(run.folder.path) == {}


def test_kill_9_of_the_supervisor_ends_the_run_and_the_next_look_says_so(
    make_job: MakeJob, start: Start
) -> None:
    run = start(make_job(FOREVER, cluster=HETEROGENEOUS))
    wait_until(lambda: works_everywhere(run), what="the start of every instance")
    assert run.state.supervisor_pid is not None

    os.kill(run.state.supervisor_pid, signal.SIGKILL)

    assert processes_after(run.folder.path) == {}
    assert run.status == "Failed"
    assert "supervisor of the run was killed" in run.state.reason


LAUNCHING_PROGRAM = """
    import sys, time
    from pathlib import Path
    import smtc_lab as lab
    job = lab.TrainingJob.from_json(Path(sys.argv[1]).read_text())
    run = lab.launch(job, root=Path(sys.argv[2]), detach=sys.argv[3] == "detach")
    print("launched", flush=True)
    time.sleep(3600)
"""


def launching_process(job: TrainingJob, root: Path, mode: str) -> subprocess.Popen[str]:
    job_file = root.parent / "given.json"
    job_file.write_text(job.to_json(), encoding="utf-8")
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(LAUNCHING_PROGRAM), job_file, root, mode],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "launched\n"
    return process


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_the_end_of_the_launching_process_ends_the_run(
    make_job: MakeJob, root: Path, number: int
) -> None:
    process = launching_process(make_job(FOREVER, cluster=HETEROGENEOUS), root, "bound")
    (folder,) = find_runs(root)
    run = Run.open(str(folder.path))
    wait_until(lambda: works_everywhere(run), what="the start of every instance")

    process.send_signal(number)
    process.communicate()

    assert processes_after(folder.path) == {}
    assert current_state(folder).state == "Stopped"
    assert "process that launched the run ended" in current_state(folder).reason


def test_a_detached_run_outlives_the_launching_process(make_job: MakeJob, root: Path) -> None:
    process = launching_process(make_job(FOREVER), root, "detach")
    (folder,) = find_runs(root)
    run = Run.open(str(folder.path))
    wait_until(lambda: works_everywhere(run), what="the start of the script")

    process.kill()
    process.communicate()

    assert run.status == "InProgress"
    assert run.stop().status == "Stopped"
    assert processes_after(folder.path) == {}


def test_a_missing_entry_point_is_refused_before_anything_starts(
    make_job: MakeJob, start: Start, root: Path
) -> None:
    job = make_job("").model_copy(update={"entry_point": "nowhere/train.py"})

    with pytest.raises(SpecError, match=r"'nowhere/train.py' is not a file.*Correct the path"):
        start(job)
    assert find_runs(root) == []


def interrupt(*_: object) -> None:
    raise KeyboardInterrupt


def test_a_launch_that_is_interrupted_before_its_begin_is_told_as_stopped(
    make_job: MakeJob, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(begin, "_await_begin", interrupt)
    with pytest.raises(KeyboardInterrupt):
        launch(make_job(FOREVER), root=root, detach=True)

    (folder,) = find_runs(root)
    assert current_state(folder).state == "Stopped"
    assert "before it began" in current_state(folder).reason
    assert processes_of(folder.path) == {}


def test_a_launch_that_is_interrupted_before_it_is_prepared_leaves_nothing(
    make_job: MakeJob, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(supervised, "replace_file", interrupt)
    with pytest.raises(KeyboardInterrupt):
        launch(make_job(FOREVER), root=root, detach=True)

    assert find_runs(root) == []
    assert list(root.iterdir()) == []
