"""What ends a run from outside: its user, its time limit, the end of whoever launched it."""

from __future__ import annotations

import os
import selectors
import signal
import sys
import time
from typing import TYPE_CHECKING

from smtc_lab.launchers.supervision.gang import Outcome
from smtc_lab.machine.processes import signals_as_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable


class Interrupts:
    """Listens for the reasons to end a run early. Made before the process's first thread.

    Args:
        limit_s: Longest time that the run may take, from now, in seconds.
        detached: Whether the run goes on without the process that launched it, whose end is
            otherwise the end of this one's standard input.
    """

    def __init__(self, *, limit_s: float, detached: bool) -> None:
        self._limit_s = limit_s
        self._deadline = time.monotonic() + limit_s
        self._lifeline = None if detached else sys.stdin.fileno()
        self._wake = signals_as_bytes()
        self._asked_to_stop = False
        self._heard_from = selectors.DefaultSelector()
        self._heard_from.register(self._wake, selectors.EVENT_READ)
        if self._lifeline is not None:
            self._heard_from.register(self._lifeline, selectors.EVENT_READ)

    def listen_to(self, descriptors: Iterable[int]) -> None:
        """Let ``wait`` return when one of these can be read, too."""
        for descriptor in descriptors:
            self._heard_from.register(descriptor, selectors.EVENT_READ)

    def wait(self, timeout_s: float | None = None) -> Outcome | None:
        """Wait until something happens; return why the run must end, None: it need not.

        Args:
            timeout_s: Longest time to wait in seconds; None: as long as it takes.
        """
        left_s = self._deadline - time.monotonic()
        if left_s <= 0:
            return too_long(self._limit_s)
        wait_s = left_s if timeout_s is None else min(left_s, timeout_s)
        heard = {key.fd for key, _ in self._heard_from.select(wait_s)}
        if self._wake in heard:
            numbers = os.read(self._wake, 4096)
            self._asked_to_stop |= signal.SIGTERM in numbers or signal.SIGINT in numbers
        if self._asked_to_stop:
            return Outcome(state="Stopped", reason="The run was stopped by its user.")
        if self._lifeline in heard and not os.read(self._lifeline or 0, 64):
            return Outcome(
                state="Stopped",
                reason=(
                    "The process that launched the run ended, so the run ended too. Start "
                    "it with detach=True to let it go on."
                ),
            )
        return None


def too_long(limit_s: float) -> Outcome:
    """Return the outcome of a run that took longer than its limit in seconds."""
    return Outcome(
        state="Stopped",
        reason=(
            f"MaxRuntimeExceeded: the run took longer than max_runtime_s={limit_s:g}. Raise "
            "it, or give the job fewer steps."
        ),
    )
