"""Waiting for a process that takes a step: for as long as it works, and time is left."""

from __future__ import annotations

import os
import signal
import time
from multiprocessing.connection import wait
from typing import TYPE_CHECKING, Any

from smtc_lab.errors import CompilerError
from smtc_lab.machine.processes import TreeClock, descendants

if TYPE_CHECKING:
    from collections.abc import Sequence

LOOK_S = 1.0
"""Between two looks at a process that takes a step."""

IDLE_LIMIT_S = 60.0
"""After this long without work, a process waits for what never comes: for a lock, say, that
another thread held when it was forked."""

_IDLE_SHARE = 0.01
"""Share of one core below which a process does no work: a watch in it may still tick."""


class Patience:
    """Waits for the answers of one process."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._clock = TreeClock()

    def wait(self, readable: Sequence[Any], *, limit_s: float) -> None:
        """Return when something can be read.

        Args:
            readable: Connections, sockets or descriptors; one of them is enough.
            limit_s: How long it may take at most, in seconds.

        Raises:
            CompilerError: It took longer, or the process does nothing any more.
        """
        began_s = idle_since_s = time.monotonic()
        worked_s = 0.0
        while not wait(readable, LOOK_S):
            now_s, before_s = time.monotonic(), worked_s
            worked_s = sum(self._clock.look([self._pid, *descendants(self._pid)]))
            if worked_s - before_s > _IDLE_SHARE * LOOK_S:
                idle_since_s = now_s
            if now_s - began_s > limit_s:
                raise CompilerError(f"a step, compiling in, took longer than {limit_s:.3g} s")
            if now_s - idle_since_s > IDLE_LIMIT_S:
                raise CompilerError(
                    f"the process where it is tried has done nothing for {IDLE_LIMIT_S:g} s"
                )


def how_it_ended(code: int, last_words: int) -> str:
    """Return what is known of the end of a process, in one sentence.

    Args:
        code: Its exit code; below 0: minus the signal that ended it.
        last_words: Descriptor of the file that it wrote to.
    """
    os.lseek(last_words, 0, os.SEEK_SET)
    with os.fdopen(os.dup(last_words), errors="replace") as file:
        lines = [line.strip() for line in file if line.strip()]
    how = f"by {signal.Signals(-code).name}" if code < 0 else f"with code {code}"
    last = f": {lines[-1]}" if lines else ""
    return f"the process where it was tried was ended {how}{last}"
