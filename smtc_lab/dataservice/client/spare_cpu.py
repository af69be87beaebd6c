"""What a trainer and its own data workers use of the CPU, and how long they stand in line."""

from __future__ import annotations

import os
import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from smtc_lab.dataservice.client.sharing import Period
from smtc_lab.machine.cores import available_cores
from smtc_lab.machine.quota.members import QUOTA_VARIABLE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_SCHEDSTAT = "/proc/thread-self/schedstat"


def own_cores() -> float:
    """Return the cores that this trainer may count on: its part of those of the instance.

    These are the CPUs it may run on, within the quota of its own control group (a container's,
    or an emulated instance's), divided by the trainers of the instance, ``LOCAL_WORLD_SIZE``.
    Not seen: a quota of a group further up, and one that is kept up by stopping the processes.
    """
    num_trainers = os.environ.get("LOCAL_WORLD_SIZE", "")
    quota = os.environ.get(QUOTA_VARIABLE)
    cores = float(quota) if quota else available_cores()
    return cores / max(1, int(num_trainers) if num_trainers.isdecimal() else 1)


class CpuWatch:
    """Measures a trainer between two looks. Belongs to the thread that iterates.

    Only this thread's delays are seen, not those of the trainer's other threads. CPU times are
    those of whole processes. About 0.1 ms for each look.

    Args:
        local_pids: Process ids of the trainer's own data workers.
        look: Returns what this thread, this process and the given ones have used until now.
    """

    def __init__(
        self,
        local_pids: Iterable[int],
        *,
        look: Callable[[Iterable[int]], CpuUse] | None = None,
    ) -> None:
        self._look = look or _look
        self._last = self._look(local_pids)

    def observe(
        self,
        *,
        local_pids: Iterable[int],
        get_wait_s: float,
        local_busy_s: float,
        num_remote_workers: int,
    ) -> Period:
        """Return what happened since the last call, or since it was made.

        Data workers that were not there at both ends do not count.

        Args:
            local_pids: Process ids of the trainer's own data workers.
            get_wait_s: Time that the trainer waited for data since then, in seconds.
            local_busy_s: Time that its data workers took for the batches that came, in seconds.
            num_remote_workers: Data workers of data servers that are connected.
        """
        before, now = self._last, self._look(local_pids)
        self._last = now
        interval_s = now.time_s - before.time_s
        local_s = sum(
            now_s - before.local_s[pid]
            for pid, now_s in now.local_s.items()
            if pid in before.local_s
        )
        delay_s = None
        if (
            before.thread_id == now.thread_id
            and before.delay_s is not None
            and now.delay_s is not None
        ):
            delay_s = now.delay_s - before.delay_s
        return Period(
            interval_s=interval_s,
            get_wait_s=get_wait_s,
            trainer_delay_s=delay_s,
            cores=own_cores(),
            trainer_cores=(now.used_s - before.used_s) / interval_s,
            local_cores=local_s / interval_s,
            local_busy_s=local_busy_s,
            num_remote_workers=num_remote_workers,
        )


@dataclass(frozen=True, slots=True)
class CpuUse:
    """What had been used at one moment, in seconds; everything grows."""

    time_s: float
    """When that was, since any moment."""

    thread_id: int
    """The thread that looked."""

    delay_s: float | None
    """How long that was ready and did not run; None: this kernel does not count it."""

    used_s: float
    """CPU time of this process; 0 where it stands for a device, and not for its host."""

    local_s: dict[int, float]
    """CPU time of each of the other processes that is there."""


def _look(local_pids: Iterable[int]) -> CpuUse:
    return CpuUse(
        time_s=time.monotonic(),
        thread_id=threading.get_native_id(),
        delay_s=_delay_s(),
        used_s=0.0 if os.environ.get(QUOTA_VARIABLE) else time.process_time(),
        local_s={pid: used_s for pid in local_pids if (used_s := _used_s(pid)) is not None},
    )


def _delay_s() -> float | None:
    """Return how long this thread was ready and did not run so far, a quota's doing included.

    None: this kernel does not count it.
    """
    try:
        with open(_SCHEDSTAT, "rb") as file:  # noqa: PTH123  hot path
            used_ns, delay_ns, _ = map(int, file.read().split())
    except (OSError, ValueError):
        return None
    # Where counting is switched off there are zeros, and this thread has run.
    return delay_ns / 1e9 if used_ns else None


def _used_s(pid: int) -> float | None:
    """Return the CPU time of a process, all its threads together; None: it is gone."""
    try:
        return time.clock_gettime(~pid << 3 | 2)  # as clock_getcpuclockid(3) makes it
    except OSError:
        return None
