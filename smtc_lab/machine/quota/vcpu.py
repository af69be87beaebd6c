"""One vCPU of an emulated instance: a thread that computes is held to its speed by sleeping.

A CPU quota holds an instance to all its vCPUs together; without this, a single process could
use the whole of it. What a thread computes is timed by its own CPU time, which neither a quota
nor other processes lengthen.
"""

from __future__ import annotations

import os
import threading
import time
from typing import TYPE_CHECKING, Any

from smtc_lab.machine.mapped_file import mapped_file

if TYPE_CHECKING:
    from pathlib import Path

VCPU_VARIABLE = "SMTC_VCPU"
"""``cores vcpus threads_per_core``: cores of this machine that one vCPU of the instance is
while all of them are busy, how many there are, and on each physical core. Unset: nothing is
slowed down."""

COUNTER_VARIABLE = "SMTC_VCPU_COUNTER"
"""File of a process that is outside its instance's quota: what it loads itself is counted."""

_LEAST_SLEEP_S = 0.002
_NUM_BYTES = 8


class CpuCounter:
    """CPU time in seconds that one process shows another one, in a file that both have mapped.

    Args:
        path: The file. Made by whoever comes first.

    Raises:
        OSError: It cannot be made or mapped.
    """

    def __init__(self, path: Path | str) -> None:
        self._seconds = mapped_file(path, _NUM_BYTES).cast("d")

    @property
    def used_s(self) -> float:
        """Return what was counted so far."""
        return self._seconds[0]

    def add(self, seconds: float) -> None:
        """Count more."""
        self._seconds[0] += seconds


class Vcpu(threading.local):
    """One vCPU for each thread that uses it.

    A thread says when it begins to compute, and waits for the vCPU before it gives away what it
    computed. Waits too short to be slept are left for the next time.

    Args:
        cores: Cores of this machine that it is, above 0.
        counter: Counts what was computed on it; None: nobody asks.
    """

    clock: Any = time
    """Tells the time of day and of threads, and passes it: the module, or what answers so."""

    def __init__(self, cores: float, counter: CpuCounter | None = None) -> None:
        self._cores = cores
        self._counter = counter
        self._used_s = 0.0
        self._free_s = 0.0

    def begin(self) -> None:
        """Say that this thread computes from now on."""
        self._used_s = self.clock.thread_time()
        self._free_s = max(self._free_s, self.clock.perf_counter())

    def note(self) -> None:
        """Count what was computed since, without a wait: the next begin is the later for it."""
        now_s = self.clock.thread_time()
        used_s, self._used_s = now_s - self._used_s, now_s
        self._free_s += used_s / self._cores
        if self._counter is not None:
            self._counter.add(used_s)

    def wait(self) -> None:
        """Wait until the vCPU has computed what this thread has since it began."""
        self.note()
        left_s = self._free_s - self.clock.perf_counter()
        if left_s >= _LEAST_SLEEP_S:
            self.clock.sleep(left_s)


def vcpu_text(cores: float, vcpus: int, threads_per_core: int) -> str:
    """Return what ``VCPU_VARIABLE`` holds."""
    return f"{cores!r} {vcpus} {threads_per_core}"


def own_vcpu(*, busy: int = 1, is_counted: bool = False) -> Vcpu | None:
    """Return the vCPU of this process's instance; None: its CPUs are those of this machine.

    While fewer are busy than there are, two of them share no physical core, and each is faster.

    Args:
        busy: Threads that compute in each trainer, or data instance, at the same time.
        is_counted: Whether what is computed on it is shown its agent, where nothing else counts
            it: in the process of a trainer, and not in those of its data workers.
    """
    told = os.environ.get(VCPU_VARIABLE)
    if not told:
        return None
    from smtc_lab.machine.quota.hyperthreads import full_threads  # noqa: PLC0415  it needs numpy

    cores, vcpus, per_core = map(float, told.split())
    together = min(vcpus, busy * float(os.environ.get("LOCAL_WORLD_SIZE", "1")))
    cores *= float(full_threads(together, vcpus, per_core)) / together
    path = os.environ.get(COUNTER_VARIABLE) if is_counted else None
    return Vcpu(cores, CpuCounter(path) if path else None)
