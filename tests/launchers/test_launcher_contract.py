"""What every launcher promises, tried on each of them with real processes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from typing import TYPE_CHECKING

import pytest

from smtc_lab.errors import RunFailedError
from smtc_lab.launchers.run import Run
from smtc_lab.store.run_folder import find_runs
from smtc_lab.store.state import current_state
from tests.kit.launch_sites import SITES
from tests.kit.quick_script import SERVED_SCRIPT, SERVES
from tests.kit.runs import processes_of_job, stopped_at_the_end, wait_until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from smtc_lab.spec.job import TrainingJob
    from tests.kit.launch_sites.site import Site

    MakeJob = Callable[..., TrainingJob]
    Start = Callable[..., Run]

HETEROGENEOUS = "dnn_group=ml.p3.2xlarge:1,data_group=ml.c5.9xlarge:2"
FOREVER = """
    import time
    print("working", flush=True)
    while True:
        time.sleep(3600)
"""
OWN_SERVER = """
    import json, os, socket, sys, time

    groups = json.loads(os.environ["SM_RESOURCE_CONFIG"])["instance_groups"]
    hosts = {each["instance_group_name"]: each["hosts"] for each in groups}
    place = (hosts["data_group"][0], 16500)
    code = json.loads(os.environ["SM_HP_CODE"])
    if os.environ["SM_CURRENT_INSTANCE_GROUP"] == "data_group":
        with socket.create_server(place) as server:
            called, _ = server.accept()
        called.sendall(os.environ["SM_CURRENT_INSTANCE_GROUP"].encode())
        print("called", *sys.argv[1:], flush=True)
        raise SystemExit(code)
    called = None
    while called is None:
        try:
            called = socket.create_connection(place)
        except OSError:
            time.sleep(0.01)
    print("fed", called.makefile().read(), flush=True)  # until the data instance has ended
    time.sleep(3600 if code else 0)
"""
"""A script whose data group serves in its own way, until it is called."""

LIMIT_S = 60.0


@pytest.fixture(scope="module", params=SITES)
def site(request: pytest.FixtureRequest) -> Iterator[Site]:
    with request.param.opened() as opened:
        yield opened


@pytest.fixture
def start(site: Site, root: Path) -> Iterator[Start]:
    with stopped_at_the_end() as launch:
        yield lambda job: launch(site.launcher(root), job)


def works_everywhere(run: Run) -> bool:
    said = [run.logs(host) for host in run.job.cluster.hosts()]
    return all("working" in each or SERVES in each for each in said)


def nothing_is_left(run: Run) -> bool:
    wait_until(lambda: not processes_of_job(run.job_name), what="the end of every process")
    return not processes_of_job(run.job_name)


def test_a_training_job_with_a_data_group_completes_with_logs_and_records(
    make_job: MakeJob, start: Start
) -> None:
    run = start(make_job(SERVED_SCRIPT, cluster=HETEROGENEOUS, max_steps=6))

    assert run.wait(LIMIT_S).status == "Completed"
    trainer, *serving = (run.logs(host) for host in run.job.cluster.hosts())
    assert trainer.splitlines()[0] == "begun"
    assert [SERVES in said and len(said.splitlines()) for said in serving] == [1, 1]
    steps = [step for rank in run.records().steps.values() for step in rank]
    assert [step.step for step in steps] == list(range(6))
    assert set(run.records().system) == {"algo-1", "algo-2", "algo-3"}
    assert nothing_is_left(run)


def test_a_script_that_exits_3_fails_the_job_with_the_instance_and_its_code(
    make_job: MakeJob, start: Start
) -> None:
    body = """
        import os, time
        if os.environ["SM_CURRENT_HOST"] == "algo-2":
            raise SystemExit(3)
        time.sleep(3600)
    """
    run = start(make_job(body, cluster="dnn_group=ml.c5.9xlarge:2"))

    with pytest.raises(RunFailedError, match=r"algo-2 \(\w+\) exited with code 3"):
        run.wait(LIMIT_S)
    assert run.state.exit_codes["algo-2"] == 3
    assert nothing_is_left(run)


def test_stop_ends_every_instance(make_job: MakeJob, start: Start) -> None:
    run = start(make_job(FOREVER, cluster=HETEROGENEOUS))
    wait_until(lambda: works_everywhere(run), what="every instance", limit_s=LIMIT_S)

    assert run.stop().status == "Stopped"
    assert run.stop().state.reason == "The run was stopped by its user."
    assert nothing_is_left(run)


def test_a_run_that_takes_too_long_is_stopped(make_job: MakeJob, start: Start) -> None:
    run = start(make_job(FOREVER, max_runtime_s=2.0))

    assert run.wait(LIMIT_S).status == "Stopped"
    assert "MaxRuntimeExceeded" in run.state.reason
    assert nothing_is_left(run)


@pytest.mark.parametrize("code", [0, 3])
def test_a_data_group_that_runs_the_script_serves_and_ends_as_the_script_does(
    make_job: MakeJob, start: Start, code: int
) -> None:
    cluster = "dnn_group=ml.p3.2xlarge:1,data_group=ml.c5.9xlarge:1:script"
    run = start(make_job(OWN_SERVER, cluster=cluster, hyperparameters={"code": code}))

    if code:
        with pytest.raises(RunFailedError, match=r"algo-2 \(data_group\) exited with code 3"):
            run.wait(LIMIT_S)
    else:
        assert run.wait(LIMIT_S).status == "Completed"
        assert "fed data_group" in run.logs("algo-1")
        assert run.state.exit_codes == {"algo-1": 0, "algo-2": 0}
    assert f"called --code {code}" in run.logs("algo-2")
    assert nothing_is_left(run)


@pytest.mark.parametrize("what", ["script", "agent"])
def test_kill_9_of_one_process_fails_the_job_and_ends_the_others(
    make_job: MakeJob, start: Start, site: Site, what: str
) -> None:
    run = start(make_job(FOREVER, cluster=HETEROGENEOUS))
    wait_until(lambda: works_everywhere(run), what="every instance", limit_s=LIMIT_S)

    os.kill(site.pid(run, what, host="algo-2"), signal.SIGKILL)

    with pytest.raises(RunFailedError, match=r"algo-2"):
        run.wait(LIMIT_S)
    assert nothing_is_left(run)


LAUNCHING_PROGRAM = """
    import sys, time
    from pathlib import Path
    from smtc_lab.spec.job import TrainingJob
    from tests.kit.launch_sites import SITES
    job = TrainingJob.from_json(Path(sys.argv[1]).read_text())
    site = next(site for site in SITES if site.name == sys.argv[2])
    launcher = site.joined(sys.argv[3]).launcher(Path(sys.argv[4]))
    launcher.start(launcher.plan(job))
    print("launched", flush=True)
    time.sleep(3600)
"""


def test_kill_9_of_the_launching_process_ends_the_run(
    make_job: MakeJob, site: Site, root: Path
) -> None:
    job_file = root.parent / "given.json"
    job_file.write_text(make_job(FOREVER, cluster=HETEROGENEOUS).to_json(), encoding="utf-8")
    program = [sys.executable, "-c", textwrap.dedent(LAUNCHING_PROGRAM), str(job_file)]
    process = subprocess.Popen(
        [*program, site.name, site.address, str(root)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "launched\n"
    (folder,) = find_runs(root)
    run = Run(site.launcher(root), Run.open(str(folder.path)).handle)
    wait_until(lambda: works_everywhere(run), what="every instance", limit_s=LIMIT_S)

    process.kill()
    process.communicate()

    assert nothing_is_left(run)
    wait_until(lambda: current_state(folder).is_terminal, what="the last word on the run")
    assert current_state(folder).state == "Stopped"
    assert "process that launched the run ended" in current_state(folder).reason
