"""Trainers of an instance that one process forks, with torch imported once for all."""

from __future__ import annotations

import json
import os
import signal
from typing import TYPE_CHECKING, Any

import pytest

from smtc_lab.errors import RunFailedError
from smtc_lab.spec.distribution import Distribution
from tests.kit.runs import processes_after, processes_of, wait_until

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from smtc_lab.launchers.run import Run
    from smtc_lab.spec.job import TrainingJob


FORKS = "smtc_lab.runtime.starting.forked_trainers"

SAY = """
    import json, os, random, sys
    ahead = sorted(name for name in sys.modules if name in ("torch", "torch.distributed.fsdp"))
    import torch
    with open("/proc/self/stat") as file:
        parent, _, session = file.read().rpartition(")")[2].split()[1:4]
    print("SAID", json.dumps({
        "rank": int(os.environ["RANK"]),
        "ahead": ahead,
        "parent": int(parent),
        "leads": int(session) == os.getpid(),
        "beside": sys.path[0],
        "drawn": random.SystemRandom().random(),
        "arguments": sys.argv[1:],
        "open": [os.readlink(f"/proc/self/fd/{fd}") for fd in (1, 2)],
    }), flush=True)
"""


def said(run: Run) -> list[dict[str, Any]]:
    lines = [line.partition("SAID ")[2] for line in run.logs().splitlines() if "SAID " in line]
    return sorted(map(json.loads, lines), key=lambda one: int(one["rank"]))


def of_two(make_job: Callable[..., TrainingJob], script: str, **values: Any) -> TrainingJob:
    return make_job(script, cluster="here=local", distribution=Distribution(data=2), **values)


def test_forked_trainers_are_what_they_are_when_each_is_started_by_itself(
    make_job: Callable[..., TrainingJob], start: Callable[..., Run]
) -> None:
    forked = start(of_two(make_job, SAY, arguments=["--width", "3"]))
    forked.wait(timeout_s=60)
    alone = start(
        of_two(make_job, SAY, arguments=["--width", "3"], environment={"TRAINERS_FORKED": "0"})
    )
    alone.wait(timeout_s=60)

    assert [one["ahead"] for one in said(forked)] == [["torch"]] * 2
    assert [one["ahead"] for one in said(alone)] == [[]] * 2
    for run in (forked, alone):
        first, second = said(run)
        assert (first["rank"], second["rank"]) == (0, 1)
        assert first["parent"] == second["parent"], "the agent"
        assert first["leads"]
        assert second["leads"]
        assert first["drawn"] != second["drawn"]
        assert first["arguments"] == ["--width", "3"]
        assert first["open"] != second["open"], "each has a log of its own"
    assert [one["beside"] for one in said(forked)] == [one["beside"] for one in said(alone)]


def test_what_shards_a_model_is_imported_once_too(
    make_job: Callable[..., TrainingJob], start: Callable[..., Run]
) -> None:
    run = start(make_job(SAY, cluster="here=local", distribution=Distribution(shard=2)))
    run.wait(timeout_s=60)

    assert [one["ahead"] for one in said(run)] == [["torch", "torch.distributed.fsdp"]] * 2


def test_a_script_that_asks_for_no_torch_is_given_none(
    make_job: Callable[..., TrainingJob], start: Callable[..., Run]
) -> None:
    script = """
        import json, os, sys
        told = {"rank": os.environ["RANK"], "torch": "torch" in sys.modules}
        print("SAID", json.dumps(told))
    """
    run = start(of_two(make_job, script))
    run.wait(timeout_s=60)

    assert [one["torch"] for one in said(run)] == [False, False]


def test_an_import_that_fails_is_told_of_a_trainer_with_the_scripts_line(
    make_job: Callable[..., TrainingJob], start: Callable[..., Run], tmp_path: Path
) -> None:
    (tmp_path / "torch.py").write_text("raise OSError('no such library')\n", encoding="utf-8")
    run = start(of_two(make_job, "import torch\n"))

    with pytest.raises(RunFailedError, match=r"OSError: no such library \(torch\.py, line 1\)"):
        run.wait(timeout_s=60)


HANGS = "import time\nprint('importing', flush=True)\ntime.sleep(600)\n"


@pytest.mark.parametrize("how", ["stop", "kill"])
def test_a_run_that_ends_before_its_trainers_are_forked_leaves_nothing(
    how: str,
    make_job: Callable[..., TrainingJob],
    start: Callable[..., Run],
    tmp_path: Path,
    root: Path,
) -> None:
    (tmp_path / "torch.py").write_text(HANGS, encoding="utf-8")
    run = start(of_two(make_job, "import torch\n"))
    wait_until(lambda: "importing" in run.logs(), what="the import")
    run_folder = root / run.job_name

    if how == "stop":
        run.stop()
    else:
        commands = processes_of(run_folder)
        (pid,) = [pid for pid, command in commands.items() if FORKS in command]
        os.kill(pid, signal.SIGKILL)
        with pytest.raises(RunFailedError, match="was killed by signal 9"):
            run.wait(timeout_s=60)

    assert run.status == ("Stopped" if how == "stop" else "Failed")
    assert not processes_after(run_folder)
