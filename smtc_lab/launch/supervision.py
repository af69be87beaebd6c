"""Starts the supervisor of a run, and waits for its end."""

from __future__ import annotations

import os
import re
import sys
import time
from typing import TYPE_CHECKING

from smtc_lab.errors import LauncherError
from smtc_lab.launch import lifeline
from smtc_lab.store.state import read_state

if TYPE_CHECKING:
    import subprocess

    from smtc_lab.store.run_folder import RunFolder

RUN_VARIABLE = "SMTC_RUN_ID"
"""Environment variable that every process of a run carries."""

_KEPT_ENVIRONMENT = re.compile(
    r"(PATH|HOME|USER|LOGNAME|SHELL|LANG|LANGUAGE|TZ|TMPDIR|TEMP|TMP|VIRTUAL_ENV|LD_LIBRARY_PATH"
    r"|DISPLAY|TERM|CC|CXX|LC_\w+|PYTHON\w*|CONDA_\w+|CUDA\w*|NVIDIA_\w+|NCCL_\w+|GLOO_\w+|TORCH\w*"
    r"|PYTORCH_\w+|XLA_\w+|PJRT_\w+|TRITON_\w+|MPL\w+|HF_HOME|HF_DATASETS_CACHE|SMTC_\w+|XDG_\w+)$"
)
"""Variables of the launching process that an entry point sees: no credentials among them."""


def start_supervisor(folder: RunFolder, *, detach: bool) -> None:
    """Start the supervisor as nobody's child, holding its lifeline unless it is detached."""
    command = [sys.executable, "-m", "smtc_lab.launch.supervisor", str(folder.path)]
    environment = {k: v for k, v in os.environ.items() if _KEPT_ENVIRONMENT.match(k)}
    environment[RUN_VARIABLE] = str(folder.path)
    log = folder.logs / "supervisor.log"
    process = lifeline.start(command, detach=detach, log=log, environment=environment)
    _await_begin(folder, process)


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
    state = read_state(folder)
    if state.supervisor_pid is None:
        raise LauncherError(
            f"Run {folder.job_name!r} was never started, so it cannot end. Start it first."
        )
    lifeline.await_end(state.supervisor_pid, state.supervisor_start_ticks, timeout_s)
