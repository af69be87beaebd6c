"""Killing processes, for tests that then ask who noticed."""

from __future__ import annotations

import os
import select
import signal

LONGEST_S = 60


def kill(pid: int) -> None:
    """Kill a process and wait for its end: on a busy machine that takes a while."""
    process = os.pidfd_open(pid)
    try:
        signal.pidfd_send_signal(process, signal.SIGKILL)
        assert select.select([process], [], [], LONGEST_S)[0], "it did not end"
    finally:
        os.close(process)
