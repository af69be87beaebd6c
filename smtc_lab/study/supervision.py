"""Starts the process that carries out a study, and waits for its end."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

from smtc_lab.launchers.supervision import lifeline
from smtc_lab.machine.processes import start_ticks
from smtc_lab.store.state import replace_file
from smtc_lab.study.folder import read_process

if TYPE_CHECKING:
    from smtc_lab.study.folder import StudyFolder


def start_process(folder: StudyFolder, *, detach: bool) -> None:
    """Start the process of a study, holding its lifeline unless it is detached.

    Raises:
        OSError: It cannot be started.
    """
    command = [sys.executable, "-m", "smtc_lab.study.process", str(folder.path)]
    process = lifeline.start(command, detach=detach, log=folder.log_file)
    # the number comes from here, so that nobody has to wait until the process is up
    known = {"pid": process.pid, "start_ticks": start_ticks(process.pid)}
    replace_file(folder.process_file, json.dumps(known))


def await_process(folder: StudyFolder, timeout_s: float | None) -> None:
    """Wait for the end of a study's process, whoever's child it is."""
    process = read_process(folder)
    if process is not None:
        lifeline.await_end(*process, timeout_s)
