"""The client in a trainer: asks data servers and its own data workers for batches."""

from __future__ import annotations

import logging
import os
import time
import weakref
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING

from smtc_lab.dataservice.epoch import Epoch
from smtc_lab.dataservice.ledger import Ledger
from smtc_lab.dataservice.local import LocalWorkers
from smtc_lab.dataservice.remote import RemoteServers
from smtc_lab.dataservice.statistics import LoaderStatistics
from smtc_lab.errors import DataServiceError

if TYPE_CHECKING:
    from collections.abc import Callable

    from smtc_lab.dataservice.messages import Outcome
    from smtc_lab.dataservice.settings import ClientSettings

SERVER_TIMEOUT_S = 60.0
"""How long a trainer waits without any data worker, where the loader's ``timeout`` is 0."""

_LOOK_S = 0.5
_log = logging.getLogger("smtc_lab.dataservice")


@dataclass(frozen=True, slots=True)
class _Parts:
    """Everything that must end with a client. None of it, and no thread, knows the client."""

    ledger: Ledger
    local: LocalWorkers
    remote: RemoteServers
    statistics: LoaderStatistics
    epochs: list[Epoch]
    owner_pid: int
    keeps_local_workers: bool


class Client:
    """Delivers the batches of one loader, epoch by epoch, to the thread that iterates.

    Over an epoch each request is delivered exactly once, in order if the epoch wants it, for as
    long as a data worker is left or comes back.
    """

    def __init__(self, settings: ClientSettings) -> None:
        self._notify = settings.notify or _log.warning
        self._events: SimpleQueue[str] = SimpleQueue()
        ledger = Ledger(credits_per_link=settings.credits_per_link)
        local = LocalWorkers(settings, ledger, self._events)
        local.start()  # before there are threads
        remote = RemoteServers(settings, ledger, self._events)
        self._parts = _Parts(
            ledger,
            local,
            remote,
            LoaderStatistics(settings.record),
            [],
            os.getpid(),
            settings.keeps_local_workers,
        )
        self._num_local_workers = settings.num_local_workers
        self._owners: weakref.WeakKeyDictionary[Epoch, weakref.finalize[..., object]] = (
            weakref.WeakKeyDictionary()
        )
        self._local_is_fresh = True
        self._served_s = time.monotonic()
        self._finalizer = weakref.finalize(self, _close, self._parts)

    @property
    def ledger(self) -> Ledger:
        """What was asked and what came."""
        return self._parts.ledger

    @property
    def local_pids(self) -> list[int]:
        """Process ids of the trainer's own data workers."""
        return self._parts.local.pids

    @property
    def is_usable(self) -> bool:
        """Whether it can deliver: not after ``close``, and not in a forked process."""
        return self._finalizer.alive and self._parts.owner_pid == os.getpid()

    def begin_epoch(
        self, owner: object, *, in_order: bool, pin: Callable[[object], object] | None
    ) -> Epoch:
        """Return a new epoch; it ends with ``end_epoch``, or when its owner is gone."""
        parts = self._parts
        parts.epochs[:] = [epoch for epoch in parts.epochs if not epoch.is_cancelled]
        if not parts.epochs and not parts.keeps_local_workers and not self._local_is_fresh:
            parts.local.stop()
        parts.local.start()
        self._local_is_fresh = False
        epoch = Epoch(in_order=in_order, pin=pin)
        parts.epochs.append(epoch)
        finalizer = weakref.finalize(owner, _abandon, parts, epoch)
        finalizer.atexit = False
        self._owners[epoch] = finalizer
        return epoch

    def end_epoch(self, epoch: Epoch) -> None:
        """Let go of an epoch, delivered or not; safe twice."""
        finalizer = self._owners.pop(epoch, None)
        if finalizer is not None:
            finalizer()
            self._hand_over_records()

    def ask(
        self, epoch: Epoch, message: Callable[[int], list[memoryview]], samples: str
    ) -> None:
        """Ask for the next batch of an epoch; see ``Ledger.ask``."""
        self._parts.ledger.ask(epoch, message, samples)

    def wait(self, epoch: Epoch, blocked_since_s: float, timeout_s: float) -> None:
        """Wait a while for the next batch of an epoch; mend meanwhile what is broken.

        Args:
            epoch: The epoch.
            blocked_since_s: Since when the trainer waits, on the monotonic clock.
            timeout_s: The loader's ``timeout``; 0: none while a data worker is there, and
                ``SERVER_TIMEOUT_S`` while there is none.

        Raises:
            DataServiceError: The time is over, or nothing can be delivered any more.
        """
        seen_version = self._parts.ledger.version
        self.tend()
        now_s = time.monotonic()
        ledger = self._parts.ledger
        if ledger.num_links or self._num_local_workers:
            self._served_s = now_s
        limit_s = timeout_s or SERVER_TIMEOUT_S
        alone_s = now_s - max(self._served_s, blocked_since_s)
        if alone_s >= limit_s:
            raise DataServiceError(
                f"No data server could be reached for {alone_s:.0f} s "
                f"({self._parts.remote.describe()}). Look into the log of these instances, or "
                "let the trainer prepare batches too with num_local_workers."
            )
        blocked_s = now_s - blocked_since_s
        if timeout_s and blocked_s >= timeout_s:
            raise DataServiceError(
                f"Batch {epoch.delivered} did not come within timeout={timeout_s} s; "
                f"{ledger.num_links} data workers are connected. Raise timeout, or find out "
                "why its samples take so long."
            )
        limit_s = min(limit_s - alone_s, timeout_s - blocked_s if timeout_s else _LOOK_S)
        ledger.wait(epoch, seen_version, min(_LOOK_S, limit_s))

    def tend(self) -> None:
        """Start data workers again that have ended, and tell what happened.

        Raises:
            DataServiceError: Nothing can be delivered any more.
        """
        self._parts.local.mend()
        while True:
            try:
                self._notify(self._events.get_nowait())
            except Empty:
                break
        if self._parts.ledger.error is not None:
            raise self._parts.ledger.error

    def count(self, outcome: Outcome, get_wait_s: float) -> None:
        """Count a delivered batch, and record what is due."""
        self._parts.statistics.add_batch(outcome, get_wait_s)
        if self._parts.statistics.is_due():
            self._hand_over_records()

    def close(self) -> None:
        """End data workers and connections, and record the rest; safe twice."""
        self._finalizer()

    def _hand_over_records(self) -> None:
        _hand_over_records(self._parts)


def _hand_over_records(parts: _Parts) -> None:
    parts.statistics.add_sent_again(parts.ledger.take_sent_again())
    parts.statistics.hand_over()


def _abandon(parts: _Parts, epoch: Epoch) -> None:
    """End an epoch; also called by a finalizer, in any thread."""
    epoch.cancel()
    if (
        parts.owner_pid == os.getpid()
        and not parts.keeps_local_workers
        and all(other.is_cancelled for other in parts.epochs)
    ):
        parts.local.stop(wait=False)


def _close(parts: _Parts) -> None:
    """End everything of a client; also called by a finalizer, in any thread, and at exit."""
    if parts.owner_pid != os.getpid():
        return  # a forked process shares the sockets, but must not end them
    parts.ledger.fail(
        DataServiceError(
            "The dataloader was closed while it was iterated over. Iterate over it again."
        )
    )
    for epoch in parts.epochs:
        epoch.cancel()
    parts.remote.close()
    parts.local.stop()
    _hand_over_records(parts)
