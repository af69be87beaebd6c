"""Makes the folder of a study, says who carries it out, and waits for its end."""

from __future__ import annotations

import json
import math
import os
import shutil
import sys
import time
from typing import TYPE_CHECKING

from smtc_lab.errors import LauncherError
from smtc_lab.launchers.supervision import lifeline
from smtc_lab.machine.processes import start_ticks
from smtc_lab.store.state import replace_file
from smtc_lab.study.carrier import Carrier
from smtc_lab.study.folder import (
    StudyFolder,
    read_process,
    read_study_state,
    studies_root,
)
from smtc_lab.study.launch_name import launch_name

if TYPE_CHECKING:
    from collections.abc import Callable

    from smtc_lab.study.folder import StudyRequest

_LOOK_S = 0.2


def make_study(request: StudyRequest, begin: Callable[[StudyFolder], None]) -> StudyFolder:
    """Make the folder of a study, and have it begun.

    Args:
        request: What to do; it was checked.
        begin: ``start_process`` or ``keep_here``.

    Raises:
        LauncherError: It could not be started; nothing of it is left.
    """
    size = str(len(request.jobs)) + (f"x{request.rounds}" if request.rounds else "")
    entry_point, kind = request.jobs[0].entry_point, request.kind
    name = launch_name(entry_point, kind, size[:6], stamp=request.created)
    folder = StudyFolder(studies_root(request.root) / name)
    try:
        folder.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        folder.path.mkdir(mode=0o700)
    except OSError as error:
        raise LauncherError(f"The {kind} {name!r} was not started: {error}") from error
    try:
        replace_file(folder.request_file, request.to_json())
        begin(folder)
    except OSError as error:
        shutil.rmtree(folder.path, ignore_errors=True)
        raise LauncherError(f"The {kind} {name!r} was not started: {error}") from error
    return folder


def start_process(folder: StudyFolder, *, detach: bool) -> None:
    """Start the process of a study, holding its lifeline unless it is detached.

    Raises:
        OSError: It cannot be started.
    """
    command = [sys.executable, "-m", "smtc_lab.study.process", str(folder.path)]
    process = lifeline.start(command, detach=detach, log=folder.log_file)
    # the number comes from here, so that nobody has to wait until the process is up
    _note(folder, process.pid)


def keep_here(folder: StudyFolder) -> None:
    """Note that this process carries out a study, beside whatever else it does.

    Raises:
        OSError: The folder cannot be written.
    """
    _note(folder, os.getpid(), is_callers=True)


def await_process(folder: StudyFolder, timeout_s: float | None) -> None:
    """Wait for the end of a study, whoever carries it out."""
    process = read_process(folder)
    if process is None:
        return
    if not process.is_callers:
        lifeline.await_end(process.pid, process.start_ticks, timeout_s)
        return
    ends_s = math.inf if timeout_s is None else time.monotonic() + timeout_s
    # its process may go on for long after it
    while not read_study_state(folder).is_terminal:
        left_s = ends_s - time.monotonic()
        lifeline.await_end(process.pid, process.start_ticks, max(0.0, min(_LOOK_S, left_s)))
        if left_s <= 0:
            return


def _note(folder: StudyFolder, pid: int, *, is_callers: bool = False) -> None:
    noted = Carrier(pid, start_ticks(pid), is_callers)
    replace_file(folder.process_file, json.dumps(noted._asdict()))
