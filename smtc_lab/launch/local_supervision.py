"""Starts the supervisor of a run, and waits for its end."""

from __future__ import annotations

import os
import re
import select
import subprocess
import sys
import time
from typing import TYPE_CHECKING

from smtc_lab.errors import LauncherError
from smtc_lab.machine.processes import start_ticks
from smtc_lab.store.state import read_state

if TYPE_CHECKING:
    from smtc_lab.store.run_folder import RunFolder

RUN_VARIABLE = "SMTC_RUN_ID"
"""Environment variable that every process of a run carries."""

_KEPT_ENVIRONMENT = re.compile(
    r"(PATH|HOME|USER|LOGNAME|SHELL|LANG|LANGUAGE|TZ|TMPDIR|TEMP|TMP|VIRTUAL_ENV|LD_LIBRARY_PATH"
    r"|DISPLAY|TERM|CC|CXX|LC_\w+|PYTHON\w*|CONDA_\w+|CUDA\w*|NVIDIA_\w+|NCCL_\w+|GLOO_\w+|TORCH\w*"
    r"|PYTORCH_\w+|XLA_\w+|PJRT_\w+|TRITON_\w+|MPL\w+|HF_HOME|HF_DATASETS_CACHE|SMTC_\w+|XDG_\w+)$"
)
"""Variables of the launching process that an entry point sees: no credentials among them."""


class _Supervisor(subprocess.Popen[bytes]):
    """A process that goes on when its object, or this process, is gone."""

    def __del__(self) -> None:
        """Let it be: Popen would warn that it still runs."""


_STARTED: dict[str, tuple[int | None, _Supervisor]] = {}
"""The supervisors that this process has started, and what keeps their runs alive: when this
process ends, in whatever way, these ends close. None: the run is detached."""


def start_supervisor(folder: RunFolder, *, detach: bool) -> None:
    """Start the supervisor as nobody's child, holding its lifeline unless it is detached."""
    _forget_ended_runs()
    command = [sys.executable, "-m", "smtc_lab.launch.supervisor", str(folder.path)]
    environment = {k: v for k, v in os.environ.items() if _KEPT_ENVIRONMENT.match(k)}
    environment[RUN_VARIABLE] = str(folder.path)
    lifeline, write_end = os.pipe2(os.O_CLOEXEC)
    with (folder.logs / "supervisor.log").open("ab") as log:
        process = _Supervisor(
            [*command, "--detached"] if detach else command,
            env=environment,
            stdin=subprocess.DEVNULL if detach else lifeline,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    os.close(lifeline)
    if detach:
        os.close(write_end)
    _STARTED[str(folder.path)] = (None if detach else write_end, process)
    _await_begin(folder, process)


def _forget_ended_runs() -> None:
    """Let go of the supervisors that have ended, so that they are not kept as zombies."""
    for path, (lifeline, process) in list(_STARTED.items()):
        if process.poll() is not None:
            if lifeline is not None:
                os.close(lifeline)
            del _STARTED[path]


def _await_begin(folder: RunFolder, process: subprocess.Popen[bytes]) -> None:
    """Wait until the supervisor has said that it is there, or has failed to come up."""
    while read_state(folder).supervisor_pid is None:
        if process.poll() is not None:
            log = (folder.logs / "supervisor.log").read_text(errors="replace")
            raise LauncherError(
                f"The supervisor of run {folder.job_name!r} ended with code "
                f"{process.returncode} before the run began. Its last words: {log[-500:]}"
            )
        time.sleep(0.005)  # its first word is a file


def await_end(folder: RunFolder, timeout_s: float | None) -> None:
    """Wait for the end of the process that has the last word on a run."""
    pid = read_state(folder).supervisor_pid
    if pid is None:
        raise LauncherError(
            f"Run {folder.job_name!r} was never started, so it cannot end. Start it first."
        )
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    try:
        if start_ticks(pid) == read_state(folder).supervisor_start_ticks:
            poller = select.poll()
            poller.register(descriptor, select.POLLIN)
            poller.poll(None if timeout_s is None else max(0.0, timeout_s) * 1000)
    finally:
        os.close(descriptor)
    _forget_ended_runs()
