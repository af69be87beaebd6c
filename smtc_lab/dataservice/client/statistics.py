"""What a client saw of each data server, handed on about twice a second."""

from __future__ import annotations

import time
import weakref
from dataclasses import dataclass
from typing import TYPE_CHECKING

from smtc_lab.metrics.records.records import OWN_WORKERS, LoaderRecord

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from smtc_lab.dataservice.protocol.messages import Answer

INTERVAL_S = 0.5
"""Least time between two records of one server, but for the last ones."""

LOCAL = OWN_WORKERS
"""What stands for the trainer's own data workers in records."""


@dataclass(slots=True)
class _Sums:
    batches: int = 0
    received_bytes: int = 0
    get_wait_s: float = 0.0
    worker_busy_s: float = 0.0
    put_wait_s: float = 0.0
    batches_ahead: int = 0
    requests_sent_again: int = 0


class LoaderStatistics:
    """Sums of one client since the last record. One thread at a time."""

    def __init__(self, record: Callable[[LoaderRecord], None] | None) -> None:
        self._record = record
        self._sums: dict[str, _Sums] = {}
        self._due_s = time.monotonic() + INTERVAL_S
        _ALL.add(self)

    def add_batch(self, outcome: Answer, get_wait_s: float, *, was_ready: bool) -> None:
        """Count a delivered batch.

        Args:
            outcome: What was delivered.
            get_wait_s: How long the trainer was blocked for it, in seconds.
            was_ready: Whether it was there before the trainer asked.
        """
        sums = self._sums.setdefault(outcome.server, _Sums())
        sums.batches += 1
        sums.received_bytes += outcome.received_bytes
        sums.get_wait_s += get_wait_s
        sums.worker_busy_s += outcome.busy_s
        sums.put_wait_s += outcome.put_wait_s
        sums.batches_ahead += was_ready

    def add_sent_again(self, requests: Mapping[str, int]) -> None:
        """Count requests that were asked again, by the server that was lost."""
        for server, count in requests.items():
            self._sums.setdefault(server, _Sums()).requests_sent_again += count

    def is_due(self) -> bool:
        """Return whether the next records are due."""
        return time.monotonic() >= self._due_s

    def hand_over(self, credits_per_worker: int = 0) -> None:
        """Record what was counted since the last call.

        Args:
            credits_per_worker: Requests that one data worker may hold now.
        """
        self._due_s = time.monotonic() + INTERVAL_S
        sums_by_server, self._sums = self._sums, {}
        if self._record is None:
            return
        now_s = time.time()
        for server, sums in sums_by_server.items():
            self._record(
                LoaderRecord(
                    time_s=now_s,
                    server=server,
                    batches=sums.batches,
                    received_bytes=sums.received_bytes,
                    get_wait_s=sums.get_wait_s,
                    worker_busy_s=sums.worker_busy_s,
                    put_wait_s=sums.put_wait_s,
                    queue_occupancy=sums.batches_ahead / max(1, sums.batches),
                    credits_per_worker=credits_per_worker,
                    requests_sent_again=sums.requests_sent_again,
                )
            )


_ALL: weakref.WeakSet[LoaderStatistics] = weakref.WeakSet()


def hand_over_all() -> None:
    """Record what every loader of this process has counted; for the end of a script."""
    for statistics in list(_ALL):
        statistics.hand_over()
