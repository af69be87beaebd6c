"""A process that ends with this one, or goes on without it, as it was asked to."""

from __future__ import annotations

import os
import select
import signal
import subprocess
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from smtc_lab.machine.processes import start_ticks

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path


class LivesOn(subprocess.Popen[bytes]):
    """A process that goes on when its object, or this process, is gone."""

    def __del__(self) -> None:
        """Let it be: Popen would warn that it still runs."""


_STARTED: list[tuple[int | None, LivesOn]] = []
"""The processes that this one has started, and what keeps them alive: when this process ends,
in whatever way, these ends close. None: that process is detached."""


def start(
    command: Sequence[str],
    *,
    detach: bool,
    log: Path,
    environment: Mapping[str, str] | None = None,
) -> LivesOn:
    """Start a process in a session of its own; its standard input is its lifeline.

    Args:
        command: What to run; gets ``--detached`` behind it where it has no lifeline.
        detach: Whether it goes on when this process ends.
        log: What it prints goes to the end of this file.
        environment: Its variables; None: those of this process.

    Raises:
        OSError: It cannot be started; nothing of it is left.
    """
    forget_ended()
    lifeline, write_end = os.pipe2(os.O_CLOEXEC)
    try:
        with log.open("ab") as file:
            process = LivesOn(
                [*command, "--detached"] if detach else command,
                env=environment,
                stdin=subprocess.DEVNULL if detach else lifeline,
                stdout=file,
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
    return process


def await_end(pid: int, ticks: int | None, timeout_s: float | None) -> None:
    """Wait for the end of a process, whoever's child it is.

    Args:
        pid: Its number.
        ticks: The start time that it was noted with: another process may have its number by
            now.
        timeout_s: Longest time to wait in seconds; None: as long as it takes.
    """
    with _opened(pid, ticks) as descriptor:
        if descriptor is not None:
            poller = select.poll()
            poller.register(descriptor, select.POLLIN)
            poller.poll(None if timeout_s is None else max(0.0, timeout_s) * 1000)
    forget_ended()


def send_signal_to(pid: int, ticks: int | None, number: int) -> bool:
    """Send a signal to the process that was noted, and to no later one of its number.

    Args:
        pid: Its number.
        ticks: The start time that it was noted with; None: it was gone then.
        number: The signal.

    Returns:
        Whether it lived.

    Raises:
        PermissionError: It is another user's.
    """
    with _opened(pid, ticks) as descriptor, suppress(ProcessLookupError):
        if descriptor is not None:
            signal.pidfd_send_signal(descriptor, number)
            return True
    return False


@contextmanager
def _opened(pid: int, ticks: int | None) -> Iterator[int | None]:
    """Open the process that was noted, whose number is its own as long; None: it is gone."""
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        yield None
        return
    try:
        yield descriptor if ticks is not None and start_ticks(pid) == ticks else None
    finally:
        os.close(descriptor)


def forget_ended() -> None:
    """Let go of the processes that have ended, so that they are not kept as zombies."""
    for started in list(_STARTED):
        lifeline, process = started
        if process.poll() is not None:
            _STARTED.remove(started)
            if lifeline is not None:
                os.close(lifeline)
