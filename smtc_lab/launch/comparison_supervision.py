"""Starts the process that carries out a comparison, and waits for its end."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
from typing import TYPE_CHECKING

from smtc_lab.launch.comparison_folder import read_process
from smtc_lab.machine.processes import start_ticks
from smtc_lab.store.state import replace_file

if TYPE_CHECKING:
    from smtc_lab.launch.comparison_folder import ComparisonFolder


class _Process(subprocess.Popen[bytes]):
    """A process that goes on when its object, or this process, is gone."""

    def __del__(self) -> None:
        """Let it be: Popen would warn that it still runs."""


_STARTED: list[tuple[int | None, _Process]] = []
"""What keeps the comparisons of this process alive, as in ``local_supervision``: when this
process ends, in whatever way, these ends close. None: the comparison is detached."""


def start_process(folder: ComparisonFolder, *, detach: bool) -> None:
    """Start the process of a comparison, holding its lifeline unless it is detached.

    Raises:
        OSError: It cannot be started.
    """
    _forget_ended()
    command = [sys.executable, "-m", "smtc_lab.launch.comparison_process", str(folder.path)]
    lifeline, write_end = os.pipe2(os.O_CLOEXEC)
    try:
        with folder.log_file.open("ab") as log:
            process = _Process(
                [*command, "--detached"] if detach else command,
                stdin=subprocess.DEVNULL if detach else lifeline,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
    except OSError:
        os.close(write_end)
        raise
    finally:
        os.close(lifeline)
    if detach:
        os.close(write_end)
    _STARTED.append((None if detach else write_end, process))
    # the number comes from here, so that nobody has to wait until the process is up
    known = {"pid": process.pid, "start_ticks": start_ticks(process.pid)}
    replace_file(folder.process_file, json.dumps(known))


def _forget_ended() -> None:
    """Let go of the processes that have ended, so that they are not kept as zombies."""
    for started in list(_STARTED):
        lifeline, process = started
        if process.poll() is not None:
            _STARTED.remove(started)
            if lifeline is not None:
                os.close(lifeline)


def await_process(folder: ComparisonFolder, timeout_s: float | None) -> None:
    """Wait for the end of a comparison's process, whoever's child it is."""
    process = read_process(folder)
    if process is None:
        return
    pid, ticks = process
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    try:
        if start_ticks(pid) == ticks:
            poller = select.poll()
            poller.register(descriptor, select.POLLIN)
            poller.poll(None if timeout_s is None else max(0.0, timeout_s) * 1000)
    finally:
        os.close(descriptor)
    _forget_ended()
