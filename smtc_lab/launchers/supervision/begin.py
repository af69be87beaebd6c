"""Starts the supervisor of a run, and waits for its end."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from smtc_lab.errors import LauncherError
from smtc_lab.instance.variables import RUN_VARIABLE
from smtc_lab.launchers.supervision import lifeline
from smtc_lab.store.state import read_state, write_state

if TYPE_CHECKING:
    from collections.abc import Mapping

    from smtc_lab.store.run_folder import RunFolder

_STOPS_WITHIN_S = 60.0
_KEPT_ENVIRONMENT = re.compile(
    r"(PATH|HOME|USER|LOGNAME|SHELL|LANG|LANGUAGE|TZ|TMPDIR|TEMP|TMP|VIRTUAL_ENV|LD_LIBRARY_PATH"
    r"|DISPLAY|TERM|CC|CXX|LC_\w+|PYTHON\w*|CONDA_\w+|CUDA\w*|NVIDIA_\w+|NCCL_\w+|GLOO_\w+|TORCH\w*"
    r"|PYTORCH_\w+|XLA_\w+|PJRT_\w+|TRITON_\w+|MPL\w+|HF_HOME|HF_(HUB|DATASETS)_CACHE"
    r"|(HF_HUB|HF_DATASETS|TRANSFORMERS)_OFFLINE|TOKENIZERS_PARALLELISM|SMTC_\w+|XDG_\w+)$"
)
"""Variables of the launching process that an entry point sees: no credentials among them."""


def kept_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """Return those of a process's variables that an entry point sees."""
    return {name: value for name, value in environment.items() if _KEPT_ENVIRONMENT.match(name)}


def start_supervisor(
    folder: RunFolder, *, detach: bool, environment: Mapping[str, str] | None = None
) -> None:
    """Start the supervisor as nobody's child, holding its lifeline unless it is detached.

    Args:
        folder: The run's folder.
        detach: Whether the run goes on when this process ends.
        environment: Variables for the supervisor beside those that entry points see, too.

    Raises:
        LauncherError: It ended before it said that it is there.
    """
    command = [
        sys.executable,
        "-m",
        "smtc_lab.launchers.supervision.supervisor",
        str(folder.path),
    ]
    variables = {**kept_environment(os.environ), **(environment or {})}
    variables[RUN_VARIABLE] = str(folder.path)
    log = folder.logs / "supervisor.log"
    process = lifeline.start(command, detach=detach, log=log, environment=variables)
    try:
        _await_begin(folder, process)
    except KeyboardInterrupt:
        _stop_before_its_begin(folder, process)
        raise


def _await_begin(folder: RunFolder, process: subprocess.Popen[bytes]) -> None:
    """Wait until the supervisor has said that it is there, or has failed to come up."""
    while read_state(folder).supervisor_pid != process.pid:
        if process.poll() is not None:
            log = (folder.logs / "supervisor.log").read_text(errors="replace")
            raise LauncherError(
                f"The supervisor of run {folder.job_name!r} ended with code "
                f"{process.returncode} before the run began. Its last words: {log[-500:]}"
            )
        time.sleep(0.005)  # its first word is a file


def _stop_before_its_begin(folder: RunFolder, process: subprocess.Popen[bytes]) -> None:
    """Leave no run that has neither begun nor ended, and no supervisor of it."""
    process.terminate()
    try:
        with suppress(subprocess.TimeoutExpired):
            process.wait(_STOPS_WITHIN_S)
    finally:
        state = read_state(folder)
        if state.state == "Pending":
            stopped = replace(
                state,
                state="Stopped",
                reason="The run was stopped by its user before it began.",
                ended_s=time.time(),
            )
            write_state(folder, stopped)


def await_end(folder: RunFolder, timeout_s: float | None) -> None:
    """Wait for the end of the process that has the last word on a run."""
    state = read_state(folder)
    if state.supervisor_pid is None:
        raise LauncherError(
            f"Run {folder.job_name!r} was never started, so it cannot end. Start it first."
        )
    lifeline.await_end(state.supervisor_pid, state.supervisor_start_ticks, timeout_s)
