"""CPU quota without any privilege: stop and continue the tree."""

from __future__ import annotations

import os
import signal
import threading
import time
from typing import TYPE_CHECKING

from smtc_lab.machine.processes import TreeClock, descendants, send_signal
from smtc_lab.machine.quota.throttling import Throttling

if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from pathlib import Path

    Outside = Callable[[], Collection[int]]
    """Returns the processes below the agent that the quota is not for."""

_SLICE_S = 0.02
_LOOK_FOR_NEW_S = 0.5
_SAVED_SLICES = 5


class DutyCycle:
    """A token bucket over the tree's own CPU time, enforced with SIGSTOP and SIGCONT.

    Measured at 0.43 to 0.47 cores for 0.5 asked on a busy machine; it costs about 1 % of a
    core and never lets the tree use more.
    """

    name = "duty-cycle"

    member_files: tuple[Path, ...] = ()

    def __init__(self, tree_name: str, outside: Outside = tuple) -> None:
        del tree_name  # every mechanism takes it; this one leaves no trace that needs a name
        self._root = os.getpid()  # the agent: everything below it is the instance
        self._outside = outside
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None
        self._at_limit_s = 0.0

    def join(self) -> None:
        """Nothing to do: the tree is whatever is below the agent."""

    def limit(self, cores: float) -> None:
        """Let the tree use at most ``cores`` cores."""
        self._thread = threading.Thread(
            target=self._enforce, args=(cores,), name="smtc-duty-cycle", daemon=True
        )
        self._thread.start()

    def lift(self) -> None:
        """End the enforcement and let everything run."""
        self._ended.set()
        if self._thread is not None:
            self._thread.join()
        send_signal(self.pids(), signal.SIGCONT)

    def pids(self) -> list[int]:
        """Return the living processes of the tree."""
        spared = set(self._outside())
        return [pid for pid in descendants(self._root) if pid not in spared]

    def used_s(self) -> float | None:
        """None: the threads of the tree know."""
        return None

    def throttling(self) -> Throttling:
        """Return what the quota did so far. A stopped thread does not stand in line."""
        return Throttling(at_limit_s=self._at_limit_s)

    def close(self) -> None:
        """As ``lift``: nothing else was taken."""
        self.lift()

    def _enforce(self, cores: float) -> None:
        clock = TreeClock()
        pids = self.pids()
        used_s, _ = clock.look(pids)
        last_s = looked_s = time.perf_counter()
        saved_s, is_stopped = 0.0, False
        while not self._ended.wait(_SLICE_S):
            now_s = time.perf_counter()
            if now_s - looked_s > _LOOK_FOR_NEW_S:
                pids, looked_s = self.pids(), now_s
            now_used_s, _ = clock.look(pids)
            earned_s = (now_s - last_s) * cores
            saved_s = min(
                saved_s + earned_s - (now_used_s - used_s), cores * _SLICE_S * _SAVED_SLICES
            )
            if is_stopped or saved_s < earned_s:  # it uses all that it earns
                self._at_limit_s += now_s - last_s
            used_s, last_s = now_used_s, now_s
            if (saved_s < 0) != is_stopped:
                is_stopped = saved_s < 0
                send_signal(pids, signal.SIGSTOP if is_stopped else signal.SIGCONT)
