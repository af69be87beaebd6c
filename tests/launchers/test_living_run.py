"""What a run that goes on refuses, and what is said of it meanwhile."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from smtc_lab.errors import LauncherError
from smtc_lab.launchers.local.launcher import LocalLauncher
from tests.kit.runs import processes_of, wait_until

if TYPE_CHECKING:
    from collections.abc import Callable

    from smtc_lab.launchers.run import Run

FOREVER = """
    import time
    while True:
        time.sleep(3600)
"""


@pytest.fixture(scope="module")
def living(start_shared: Callable[..., Run]) -> Run:
    return start_shared(FOREVER, job_name="living")


@pytest.fixture(scope="module")
def own_launcher(living: Run) -> LocalLauncher:
    return LocalLauncher(root=living.folder.path.parent)


def pids_running(run: Run, text: str) -> list[int]:
    return [pid for pid, command in processes_of(run.folder.path).items() if text in command]


def test_a_second_start_of_the_same_plan_starts_nothing(
    living: Run, own_launcher: LocalLauncher
) -> None:
    second = own_launcher.start(own_launcher.plan(living.job))

    assert second == living.handle
    # what it starts bears its name until it has become what it is to be
    wait_until(
        lambda: len(pids_running(living, "supervision.supervisor")) == 1,
        what="one supervisor alone",
    )


def test_another_job_of_the_same_name_is_refused(
    living: Run, own_launcher: LocalLauncher
) -> None:
    other = own_launcher.plan(living.job.model_copy(update={"seed": 1}))

    with pytest.raises(LauncherError, match=r"'living' exists and is of another job"):
        own_launcher.start(other)


def test_a_second_supervisor_refuses_the_run(living: Run) -> None:
    second = subprocess.run(
        [
            sys.executable,
            "-m",
            "smtc_lab.launchers.supervision.supervisor",
            living.folder.path,
        ],
        check=False,
        timeout=60,
    )

    assert second.returncode == 1
    assert living.status == "InProgress"


def test_waiting_too_short_says_that_the_run_goes_on(living: Run) -> None:
    with pytest.raises(LauncherError, match=r"still runs after 0.2 s"):
        living.wait(0.2)
    assert living.status == "InProgress"


def test_sweep_finds_nothing_of_a_run_that_is_alive(
    living: Run, own_launcher: LocalLauncher
) -> None:
    assert living.job_name not in [item.job_name for item in own_launcher.sweep()]
