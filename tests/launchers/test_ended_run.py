"""What is known of a run that has ended, and what is left of it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from smtc_lab.launchers.local.launcher import LocalLauncher
from smtc_lab.launchers.run import Run
from tests.kit.runs import PATIENCE_S, processes_after, wait_until

if TYPE_CHECKING:
    from collections.abc import Callable

LEAVES_A_PROCESS = """
    import os, time
    print("one\\ntwo", flush=True)
    if os.fork() == 0:
        os.setsid()
        time.sleep(3600)
    import torch
    print("THREADS", torch.get_num_threads())
"""


@pytest.fixture(scope="module")
def ended(start_shared: Callable[..., Run]) -> Run:
    """Return a run that has ended well, whose script has left a process behind."""
    run = start_shared(
        LEAVES_A_PROCESS, cluster="here=local", environment={"OMP_NUM_THREADS": "1"}
    )
    return run.wait(PATIENCE_S)


def test_a_poll_goes_on_where_the_last_one_ended(ended: Run) -> None:
    first = ended.poll()

    second = ended.poll(json.loads(json.dumps(first.cursor)))

    assert [line.text for line in first.log] == ["one", "two", "THREADS 1"]
    assert [event.message for event in first.events] == ["InProgress.", "Completed."]
    assert second.log == ()
    assert second.events == ()


def test_torch_computes_in_as_many_threads_as_the_job_says(ended: Run) -> None:
    assert "THREADS 1" in ended.logs()


def test_what_a_script_leaves_behind_after_a_clean_exit_is_ended(ended: Run) -> None:
    assert ended.status == "Completed"
    assert processes_after(ended.folder.path) == {}


def test_sweep_ends_what_a_lost_run_left(ended: Run) -> None:
    launcher = LocalLauncher(root=ended.folder.path.parent)
    variables = {"PATH": os.environ["PATH"], "SMTC_RUN_ID": str(ended.folder.path)}
    orphan = subprocess.Popen(["sleep", "3600"], env=variables)
    environment = Path(f"/proc/{orphan.pid}/environ")
    # A new program has no environment for a moment after its parent goes on.
    wait_until(lambda: b"SMTC_RUN_ID" in environment.read_bytes(), what="its environment")

    try:
        found = [item for item in launcher.sweep(stop=True) if item.job_name == ended.job_name]
        assert [item.pids for item in found] == [(orphan.pid,)]
        assert orphan.wait(PATIENCE_S) == -signal.SIGTERM
    finally:
        orphan.kill()
        orphan.wait()


def test_a_run_folder_that_was_moved_is_still_read(ended: Run, tmp_path: Path) -> None:
    home = ended.folder.path
    moved = home.rename(tmp_path / ended.job_name)
    try:
        again = Run.open(str(moved))

        assert again.status == "Completed"
        assert "one" in again.logs()
        assert home.exists() is False
    finally:
        moved.rename(home)
