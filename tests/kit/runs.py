"""Looking at real runs from a test: which processes there are, and whether they end."""

from __future__ import annotations

import os
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from smtc_lab.instance.variables import RUN_VARIABLE
from smtc_lab.launchers.run import Run
from smtc_lab.machine.processes import processes_with_variable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from smtc_lab.launchers.launcher import Launcher
    from smtc_lab.spec.job import TrainingJob


def processes_of(run_folder: Path) -> dict[int, str]:
    """Return the living processes of a run with their command lines."""
    found = processes_with_variable(RUN_VARIABLE, str(run_folder))
    return {pid: command_of(pid) for pid in found if pid != os.getpid()}


PATIENCE_S = 60.0
"""How long tests wait for what has to come; how soon it comes is measured by ``make bench``."""


def processes_after(run_folder: Path, limit_s: float = PATIENCE_S) -> dict[int, str]:
    """Return the processes that a run has left after at most ``limit_s`` seconds.

    The promise is 3 s after stop, crash or kill of any one process of a run.
    """
    deadline = time.monotonic() + limit_s
    while (left := processes_of(run_folder)) and time.monotonic() < deadline:
        time.sleep(0.02)  # the end of somebody else's process is no event here
    return left


def wait_until(
    condition: Callable[[], object], *, what: str, limit_s: float = PATIENCE_S
) -> None:
    """Wait until a condition holds.

    Raises:
        TimeoutError: It does not hold within ``limit_s`` seconds; says what was awaited.
    """
    deadline = time.monotonic() + limit_s
    while not condition():
        if time.monotonic() >= deadline:
            raise TimeoutError(f"{what} did not happen within {limit_s:g} s")
        time.sleep(0.02)


def processes_of_job(job_name: str) -> dict[int, str]:
    """Return the living processes of a job on this machine, with their command lines.

    Each of them carries the folder of its run, which bears the job's name wherever it lies.
    """
    return {
        pid: command_of(pid)
        for pid, folder in processes_with_variable(RUN_VARIABLE).items()
        if pid != os.getpid() and Path(folder).name == job_name
    }


def command_of(pid: int) -> str:
    """Return the command line of a process; empty: it is gone."""
    try:
        text = Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return ""
    return text.replace(b"\0", b" ").decode(errors="replace")


def log_of(pid: int) -> str:
    """Return the name of the file to which a process prints; empty: it is gone, or to none.

    That tells what a process of a run is, also where one forked it: ``algo-1.agent.log``.
    """
    try:
        return Path(f"/proc/{pid}/fd/1").readlink().name
    except OSError:
        return ""


@contextmanager
def stopped_at_the_end() -> Iterator[Callable[[Launcher, TrainingJob], Run]]:
    """Give a function that starts a run; at the end every run that it started is stopped."""
    runs = []

    def start(launcher: Launcher, job: TrainingJob) -> Run:
        run = Run(launcher, launcher.start(launcher.plan(job)))
        runs.append(run)
        return run

    try:
        yield start
    finally:
        for run in runs:
            run.stop()
