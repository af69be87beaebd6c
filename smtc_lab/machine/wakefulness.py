"""Keeps the cores of an emulation from falling asleep between two slices of a quota.

A core that idles slows down: its clock falls, its caches go cold, a virtual one is taken off
its host core. Measured on a virtual machine: at a quota of 0.25 cores a loop needs 50 % more
CPU time for the same work than without one, and 9 % more where the cores stay awake. Without
this a cluster that leaves cores idle would look slower than its quota makes it.
"""

from __future__ import annotations

import contextlib
import os
import signal
from typing import NoReturn

from smtc_lab.machine.processes import die_with_parent

AWAKE_VARIABLE = "SMTC_AWAKE_FD"
"""Environment variable with the descriptor that ``wake_cores`` takes."""

_MOST_CORES = 1024


def keep_cores_awake() -> int:
    """Fork a process for each core of this one that will spin whenever nobody else wants it.

    They sleep until ``wake_cores``, because a spinning core slows down the start of others.
    Then they run at idle priority: anything else runs before them. They end with the process
    that called this.

    Returns:
        The descriptor by which they are woken; processes started later may inherit it.
    """
    parent = os.getpid()
    signal_end, write_end = os.pipe2(os.O_CLOEXEC)
    for core in sorted(os.sched_getaffinity(0)):
        if os.fork() == 0:
            os.close(write_end)
            _spin(core, parent, signal_end)
    os.close(signal_end)
    os.set_inheritable(write_end, True)
    return write_end


def wake_cores(descriptor: int) -> None:
    """Let the processes of ``keep_cores_awake`` begin; safe to call again."""
    os.set_blocking(descriptor, False)
    with contextlib.suppress(OSError):  # they have ended, or have more than enough already
        os.write(descriptor, b"." * _MOST_CORES)


def _spin(core: int, parent: int, signal_end: int) -> NoReturn:
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGCHLD):
        signal.signal(number, signal.SIG_DFL)
    signal.set_wakeup_fd(-1)
    die_with_parent()
    if not os.read(signal_end, 1):
        os._exit(0)
    with contextlib.suppress(OSError):
        os.sched_setaffinity(0, {core})
    try:
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    except OSError:  # then a spinning process would take time from others
        os._exit(0)
    while os.getppid() == parent:
        for _ in range(1_000_000):
            pass
    os._exit(0)
