"""What ends a run from outside: its user, its time limit, the end of whoever launched it."""

from __future__ import annotations

import contextlib
import math
import os
import selectors
import signal
import sys
import time
from typing import TYPE_CHECKING

from smtc_lab.launchers.supervision.cluster_clock import ClusterClock
from smtc_lab.launchers.supervision.gang import Outcome
from smtc_lab.machine.processes import signals_as_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


class Interrupts:
    """Listens for the reasons to end a run early. Made before the process's first thread.

    Args:
        limit_s: Longest time that the run may have instances, from now, in seconds.
        detached: Whether the run goes on without the process that launched it, whose end is
            otherwise the end of this one's standard input.
        max_wait_s: Longest time until its end, waiting for instances included, from now, in
            seconds of ``clock``; None: as long as it takes.
        used_s: Time with instances before now that counts, in seconds.
        passed_s: Time before now that counts, waiting included, in seconds.
    """

    def __init__(
        self,
        *,
        limit_s: float,
        detached: bool,
        max_wait_s: float | None = None,
        used_s: float = 0.0,
        passed_s: float = 0.0,
    ) -> None:
        self._limit_s = limit_s
        self._max_wait_s = max_wait_s
        self._waits_until_s = math.inf if max_wait_s is None else max_wait_s - passed_s
        self.clock = ClusterClock()
        """Counts the run's seconds; of ``limit_s`` this machine's count always."""

        self._deadline = time.monotonic() + limit_s - used_s
        self.interruption_at_s = math.inf
        """When instances are taken away, by ``clock``; infinite: never."""
        self._lifeline = None if detached else sys.stdin.fileno()
        self._wake = signals_as_bytes()
        self._asked_to_stop = False
        self._heard_from = selectors.DefaultSelector()
        self._heard_from.register(self._wake, selectors.EVENT_READ)
        if self._lifeline is not None:
            self._heard_from.register(self._lifeline, selectors.EVENT_READ)

    @property
    def has_max_wait(self) -> bool:
        """Whether waiting for instances has an end."""
        return self._waits_until_s < math.inf

    def listen_to(self, descriptors: Iterable[int]) -> None:
        """Let ``wait`` return when one of these can be read, too."""
        for descriptor in descriptors:
            self._heard_from.register(descriptor, selectors.EVENT_READ)

    def forget(self, descriptor: int) -> None:
        """Listen to one no longer that ``listen_to`` was given."""
        with contextlib.suppress(KeyError):  # it never came to that
            self._heard_from.unregister(descriptor)

    def wait(self, timeout_s: float | None = None) -> Outcome | None:
        """Wait until something happens; return why the run must end, None: it need not.

        Args:
            timeout_s: Longest time to wait in seconds; None: as long as it takes.
        """
        if (late := self._late()) is not None:
            return late
        left_s = min(
            self._deadline - time.monotonic(),
            self.clock.left_s(min(self._waits_until_s, self.interruption_at_s)),
        )
        wait_s = left_s if timeout_s is None else min(left_s, timeout_s)
        patience_s = None if wait_s == math.inf else wait_s
        heard = {key.fd for key, _ in self._heard_from.select(patience_s)}
        if self._wake in heard:
            numbers = os.read(self._wake, 4096)
            self._asked_to_stop |= signal.SIGTERM in numbers or signal.SIGINT in numbers
            if signal.SIGUSR1 in numbers:
                self.interruption_at_s = -math.inf
        if self._asked_to_stop:
            return self._asked()
        if self._lifeline in heard and not os.read(self._lifeline or 0, 64):
            return Outcome(
                state="Stopped",
                reason=(
                    "The process that launched the run ended, so the run ended too. Start "
                    "it with detach=True to let it go on."
                ),
            )
        return self._late()

    def _asked(self) -> Outcome:
        """Return why the run must end that was asked to."""
        return Outcome(state="Stopped", reason="The run was stopped by its user.")

    def wait_for_instances(
        self, until_s: float, *, are_there: Callable[[], bool] = lambda: False
    ) -> Outcome | None:
        """Wait until there are instances; return why the run ends before, None: there are.

        Args:
            until_s: When there are some, by ``clock``; infinite: never.
            are_there: Whether there are some now; asked when something was heard.
        """
        self.interruption_at_s = math.inf
        began_s, deadline, ended = time.monotonic(), self._deadline, None
        while ended is None and not are_there() and (left_s := self.clock.left_s(until_s)) > 0:
            self._deadline = math.inf  # of the time with instances, of which none passes
            ended = self.wait(left_s if left_s < math.inf else None)
            if ended is not None and ended.state == "Interrupted":
                self.interruption_at_s, ended = math.inf, None  # there is nothing to take
        self._deadline = deadline + time.monotonic() - began_s
        return ended

    def _late(self) -> Outcome | None:
        if time.monotonic() >= self._deadline:
            return too_long(self._limit_s)
        now_s = self.clock.now_s
        if now_s >= self._waits_until_s:
            return Outcome(
                state="Stopped",
                reason=(
                    "MaxWaitTimeExceeded: the run was not done after "
                    f"max_wait={self._max_wait_s:g} s, waiting for instances included. Raise "
                    "it, or use on-demand instances."
                ),
            )
        if now_s < self.interruption_at_s:
            return None
        by_hand = self.interruption_at_s < 0
        return Outcome(
            state="Interrupted",
            reason=(
                "The instances were taken away, as somebody asked."
                if by_hand
                else "The market took the instances away."
            ),
        )


def too_long(limit_s: float) -> Outcome:
    """Return the outcome of a run that took longer than its limit in seconds."""
    return Outcome(
        state="Stopped",
        reason=(
            f"MaxRuntimeExceeded: the run took longer than max_runtime_s={limit_s:g}. Raise "
            "it, or give the job fewer steps."
        ),
    )
