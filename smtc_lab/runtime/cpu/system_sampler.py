"""What an instance uses, looked at about twice a second by its agent."""

from __future__ import annotations

import os
import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from smtc_lab.errors import StoreError
from smtc_lab.machine.gpu import GpuProbe
from smtc_lab.machine.processes import TreeClock
from smtc_lab.machine.quota.throttling import AskedCpu, Throttling
from smtc_lab.machine.socket_traffic import SocketTraffic
from smtc_lab.metrics.records.records import SystemSample

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from smtc_lab.machine.quota.cpu_quota import CpuQuota
    from smtc_lab.machine.quota.vcpu import CpuCounter
    from smtc_lab.store.tables import RecordSink

DEFAULT_INTERVAL_S = 0.5
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


class SystemSampler:
    """Writes a ``SystemSample`` every half second until it is closed.

    Costs at most 1 % of a core at 2 Hz (``notebooks/bench_overhead.ipynb``).

    Args:
        quota: That of the instance, which knows its processes.
        writer: Gets the samples.
        outside: Returns processes that are the instance's, and not under its quota: their
            memory and connections count, and of their CPU time what ``loaded`` has.
        loaded: What they count themselves.
        interval_s: Time between samples in seconds.
        now: Tells the time.
    """

    def __init__(  # noqa: PLR0913  one is for tests
        self,
        quota: CpuQuota,
        writer: RecordSink,
        *,
        outside: Callable[[], Collection[int]] = tuple,
        loaded: Collection[CpuCounter] = (),
        interval_s: float = DEFAULT_INTERVAL_S,
        now: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._now = now
        self._num_cores = os.cpu_count() or 1
        self._quota = quota
        self._outside = outside
        self._loaded = loaded
        self._writer = writer
        self._interval_s = interval_s
        self._clock = TreeClock()
        self._traffic = SocketTraffic()
        self._gpu = GpuProbe()
        self._closing = threading.Event()
        self._quota_cores: float | None = None
        self._looking = threading.Lock()
        self._asked = AskedCpu()
        self._last = self._look()
        self._thread = threading.Thread(target=self._run, name="smtc-sampler", daemon=True)
        self._thread.start()

    def quota_applies(self, cores: float) -> None:
        """Say that the tree has a quota from now on, and how many cores that is."""
        with self._looking:
            self._asked = AskedCpu()
            self._quota_cores = cores

    def quota_ends(self) -> None:
        """Say that the quota is about to be lifted: no sample has time with and without it."""
        with self._looking:
            if self._quota_cores is not None:
                self._write_sample()
                self._quota_cores = None

    def close(self) -> None:
        """Take a last sample and stop. Safe to call twice."""
        self._closing.set()
        self._thread.join()

    def _run(self) -> None:
        closing = False
        while not closing:
            closing = self._closing.wait(self._interval_s)
            with self._looking:
                if not self._write_sample():
                    return

    def _write_sample(self) -> bool:
        """Look, and write what was seen; False: it cannot be written."""
        try:
            self._writer.append(self._sample())
        except StoreError:  # the writer reports it when it is closed
            return False
        return True

    def _sample(self) -> SystemSample:
        quota_cores = self._quota_cores
        before, now = self._last, self._look()
        self._last = now
        interval_s = now.time_s - before.time_s
        cpu_used_s = max(0.0, now.used_s - before.used_s)
        cores = self._num_cores if quota_cores is None else quota_cores
        cpu_asked_s = self._asked.look(
            used_s=cpu_used_s,
            waited_s=now.waited_s - before.waited_s,
            limit_s=interval_s * cores,
            interval_s=interval_s,
            throttling=Throttling(
                at_limit_s=now.throttling.at_limit_s - before.throttling.at_limit_s,
                held_s=now.throttling.held_s - before.throttling.held_s,
            ),
        )
        everyone = [*{*self._quota.pids(), *self._outside()}]
        received_bytes, sent_bytes = self._traffic.look(everyone) or (None, None)
        gpu_utilization, gpu_memory = self._gpu.look()
        return SystemSample(
            time_s=time.time(),
            interval_s=interval_s,
            cpu_used_s=cpu_used_s,
            cpu_asked_s=cpu_asked_s,
            cpu_quota_cores=quota_cores,
            memory_bytes=_resident_bytes(everyone),
            network_received_bytes=received_bytes,
            network_sent_bytes=sent_bytes,
            gpu_utilization_fraction=gpu_utilization,
            gpu_memory_bytes=gpu_memory,
        )

    def _look(self) -> _TreeUse:
        used_s, waited_s = self._clock.look(self._quota.pids())
        counted_s = self._quota.used_s()
        return _TreeUse(
            time_s=self._now(),
            used_s=(used_s if counted_s is None else counted_s)
            + sum(one.used_s for one in self._loaded),
            waited_s=waited_s,
            throttling=self._quota.throttling(),
        )


@dataclass(frozen=True)
class _TreeUse:
    """What the tree had used at one moment; everything grows."""

    time_s: float
    used_s: float
    waited_s: float
    throttling: Throttling


def _resident_bytes(pids: list[int]) -> int:
    total = 0
    for pid in pids:
        try:
            with open(f"/proc/{pid}/statm", "rb") as file:  # noqa: PTH123  hot path
                total += int(file.read().split()[1])
        except (OSError, IndexError):
            continue
    return total * _PAGE_BYTES
