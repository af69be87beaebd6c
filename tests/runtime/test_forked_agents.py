"""Agents of one machine that one process forks, with torch imported once for all of them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from smtc_lab.errors import RunFailedError
from tests.kit.runs import processes_after, processes_of, wait_until

if TYPE_CHECKING:
    from collections.abc import Callable

    from smtc_lab.launchers.run import Run
    from smtc_lab.spec.job import TrainingJob

    MakeJob = Callable[..., TrainingJob]
    Start = Callable[..., Run]


FORKS = "smtc_lab.runtime.forked_agents"
TWO_GROUPS = "a=local:2:train,b=local:1:train"
LIMIT_S = 120

SAY = """
    import atexit, json, os, sys, threading, time
    ahead = "torch" in sys.modules
    import torch
    with open("/proc/self/stat") as file:
        parent, _, session = file.read().rpartition(")")[2].split()[1:4]
    print("SAID", json.dumps({
        "ahead": ahead,
        "parent": open(f"/proc/{parent}/cmdline").read(),
        "leads": int(session) == os.getpid(),
        "beside": sys.path[0],
        "arguments": sys.argv[1:],
        "given": sys.stdin.read(),
        "open": sorted(int(name) for name in os.listdir("/proc/self/fd")),
    }), flush=True)
    atexit.register(print, "at the end", flush=True)
    threading.Thread(target=lambda: (time.sleep(0.2), print("thread", flush=True))).start()
"""


def said(run: Run) -> list[dict[str, Any]]:
    logs = [run.logs(host) for host in run.job.cluster.hosts()]
    return [json.loads(log.partition("SAID ")[2].splitlines()[0]) for log in logs]


def test_scripts_of_forked_agents_are_as_those_of_agents_that_are_started(
    make_job: MakeJob, start: Start
) -> None:
    arguments = ["--width", "3"]
    forked = start(make_job(SAY, cluster=TWO_GROUPS, arguments=arguments))
    forked.wait(timeout_s=LIMIT_S)
    alone = start(
        make_job(
            SAY, cluster=TWO_GROUPS, arguments=arguments, environment={"TRAINERS_FORKED": "0"}
        )
    )
    alone.wait(timeout_s=LIMIT_S)

    assert [one["ahead"] for one in said(forked)] == [True] * 3
    assert [one["ahead"] for one in said(alone)] == [False] * 3
    assert all(FORKS in one["parent"] for one in said(forked))
    for run in (forked, alone):
        for host, one in zip(run.job.cluster.hosts(), said(run), strict=True):
            assert one["leads"]
            assert one["arguments"] == arguments
            assert one["given"] == ""
            assert run.logs(host).splitlines()[1:] == ["thread", "at the end"]
    for one, other in zip(said(forked), said(alone), strict=True):
        assert one["beside"] == other["beside"]
        assert len(one["open"]) <= len(other["open"]), "no descriptor of another agent"


def test_how_a_script_ends_is_told_of_its_instance(make_job: MakeJob, start: Start) -> None:
    script = """
        import os
        import torch
        if os.environ["SM_CURRENT_HOST"] == "algo-2":
            raise ValueError("no such word")
        import time
        time.sleep(600)
    """
    run = start(make_job(script, cluster="a=local:2:train"))

    with pytest.raises(RunFailedError, match=r"algo-2.*ValueError: no such word"):
        run.wait(timeout_s=LIMIT_S)

    assert "raise ValueError" in run.logs("algo-2")
    assert "forked" not in run.logs("algo-2")
    assert processes_after(run.folder.path) == {}


@pytest.mark.parametrize("how", ["stop", "kill", "launcher"])
def test_a_run_that_ends_while_torch_is_imported_leaves_nothing(
    make_job: MakeJob, start: Start, tmp_path: Path, how: str
) -> None:
    begun = tmp_path / "begun"
    (tmp_path / "torch.py").write_text(
        f"import pathlib, time\npathlib.Path({str(begun)!r}).touch()\ntime.sleep(600)\n",
        encoding="utf-8",
    )
    run = start(make_job("import torch\n", cluster=TWO_GROUPS))
    wait_until(begun.exists, what="the import", limit_s=60)
    (forking,) = [
        pid for pid, command in processes_of(run.folder.path).items() if FORKS in command
    ]

    if how == "stop":
        run.stop()
        assert run.status == "Stopped"
    elif how == "kill":
        os.kill(forking, signal.SIGKILL)
        with pytest.raises(RunFailedError, match="signal 9"):
            run.wait(timeout_s=60)
    else:
        status = Path(f"/proc/{forking}/status").read_text(encoding="utf-8")
        (parent,) = [line.split()[1] for line in status.splitlines() if line[:5] == "PPid:"]
        os.kill(int(parent), signal.SIGKILL)

    assert processes_after(run.folder.path) == {}


def test_a_forked_script_computes_with_its_own_number_of_threads(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(
        "import json, torch, threadpoolctl\n"
        "pools = [it['num_threads'] for it in threadpoolctl.threadpool_info()]\n"
        "print(json.dumps([torch.get_num_threads(), *pools]))\n",
        encoding="utf-8",
    )
    body = f"""
import os
from smtc_lab.runtime.starting.ahead import import_ahead, run_forked
script = {str(script)!r}
import_ahead(script, {{}})
for threads in "1", "3":
    if os.fork() == 0:
        environment = {{**os.environ, "OMP_NUM_THREADS": threads}}
        run_forked(script, [], environment=environment, log={str(tmp_path)!r} + threads)
    os.wait()
"""
    environment = {**os.environ, "OMP_NUM_THREADS": "2", "OPENBLAS_NUM_THREADS": "2"}

    subprocess.run([sys.executable, "-c", body], env=environment, check=True, timeout=LIMIT_S)

    for threads in (1, 3):
        pools = json.loads(Path(f"{tmp_path}{threads}").read_text(encoding="utf-8"))
        assert len(pools) >= 3, "torch, its OpenMP and numpy's BLAS"
        assert set(pools) == {threads}
