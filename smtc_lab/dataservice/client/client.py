"""The client in a trainer: asks data servers and its own data workers for batches."""

from __future__ import annotations

import logging
import os
import time
import weakref
from queue import SimpleQueue
from typing import TYPE_CHECKING

from smtc_lab.dataservice.client.auto_workers import AutoWorkers
from smtc_lab.dataservice.client.epoch import Epoch
from smtc_lab.dataservice.client.journal import Journal
from smtc_lab.dataservice.client.ledger import Ledger
from smtc_lab.dataservice.client.local import LocalWorkers
from smtc_lab.dataservice.client.parts import Parts, abandon, close, hand_over_records
from smtc_lab.dataservice.client.reception import Reception
from smtc_lab.dataservice.client.remote import RemoteServers
from smtc_lab.dataservice.client.statistics import LOCAL, LoaderStatistics
from smtc_lab.dataservice.protocol.landing import LandingPool
from smtc_lab.errors import DataServiceError, DataWorkerError

if TYPE_CHECKING:
    from collections.abc import Callable

    from smtc_lab.dataservice.client.epoch import Request
    from smtc_lab.dataservice.client.settings import ClientSettings
    from smtc_lab.dataservice.protocol.messages import Answer

SERVER_TIMEOUT_S = 60.0
"""How long a trainer waits without any data worker, where the loader's ``timeout`` is 0."""

_QUICK_S = 0.02
_LOOK_S = 0.5
_SUSPICION_S = 2.0
_log = logging.getLogger("smtc_lab.dataservice")


class Client:
    """Delivers the batches of one loader, epoch by epoch, to the thread that iterates.

    Over an epoch each request is delivered exactly once, in order if the epoch wants it, for as
    long as a data worker is left or comes back.
    """

    def __init__(self, settings: ClientSettings) -> None:
        self._notify = settings.notify or _log.warning
        self._events: SimpleQueue[str] = SimpleQueue()
        reception, journal = Reception(), Journal(settings.journal)
        ledger = Ledger(
            credits_per_link=settings.credits_per_link,
            journal=journal,
            on_change=reception.ring,
        )
        local = LocalWorkers(settings, ledger, reception, self._events)
        local.start()  # before there are threads
        reception.start()
        landing = LandingPool(is_pinned=settings.is_pinned, unpickles=settings.allow_pickle)
        remote = RemoteServers(settings, ledger, reception, landing, self._events)
        remote.start()
        self._parts = Parts(
            ledger,
            reception,
            journal,
            local,
            remote,
            LoaderStatistics(settings.record),
            [],
            os.getpid(),
            settings.keeps_local_workers,
        )
        self._num_local_workers = settings.num_local_workers
        self.recipe = settings.recipe
        """What servers were sent; None: there are none."""
        self._auto: AutoWorkers | None = None
        if settings.is_auto:
            self._auto = AutoWorkers(settings.num_local_workers)
        self._owners: weakref.WeakKeyDictionary[Epoch, weakref.finalize[..., object]] = (
            weakref.WeakKeyDictionary()
        )
        self._local_is_fresh = True
        self._served_s = time.monotonic()
        self._finalizer = weakref.finalize(self, close, self._parts)

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

    @property
    def statistics(self) -> LoaderStatistics:
        """Where delivered batches count."""
        return self._parts.statistics

    @property
    def is_idle(self) -> bool:
        """Whether nobody iterates, and no data worker is to outlive a pass."""
        parts = self._parts
        return (
            self.is_usable
            and not parts.keeps_local_workers
            and all(epoch.is_cancelled for epoch in parts.epochs)
        )

    def begin_epoch(
        self,
        owner: object,
        *,
        in_order: bool,
        pin: Callable[[Answer], Answer] | None,
        number: int,
    ) -> Epoch:
        """Return a new epoch; it ends with ``end_epoch``, or when its owner is gone."""
        parts = self._parts
        parts.epochs[:] = [epoch for epoch in parts.epochs if not epoch.is_cancelled]
        if not parts.epochs and not parts.keeps_local_workers and not self._local_is_fresh:
            parts.local.stop()
        parts.local.start()
        self._local_is_fresh = False
        epoch = Epoch(in_order=in_order, pin=pin, number=number)
        parts.journal.epoch(epoch, in_order=in_order)
        parts.epochs.append(epoch)
        finalizer = weakref.finalize(owner, abandon, parts, epoch)
        finalizer.atexit = False
        self._owners[epoch] = finalizer
        return epoch

    def end_epoch(self, epoch: Epoch, *, is_complete: bool = False) -> None:
        """Let go of an epoch, delivered or not; safe twice."""
        finalizer = self._owners.pop(epoch, None)
        if finalizer is not None:
            epoch.is_complete = is_complete
            if is_complete:  # a data worker that ended after its last batch held up nobody
                self._parts.local.mend()
                self._tell()
            finalizer()
            hand_over_records(self._parts)

    def note_visit(self, now_s: float) -> None:
        """Take note that the trainer asks for a batch, at this time of the monotonic clock."""
        self._parts.reception.note_visit(now_s)

    def pop(self, epoch: Epoch) -> tuple[Request, Answer]:
        """Return the next request of an epoch and its outcome, once that is ready."""
        request, outcome = epoch.pop()
        self._parts.journal.delivered(request)
        return request, outcome

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
        began_s = time.monotonic()
        # Most batches come at once, and the rest of this costs more than a small batch.
        if not self._receive(epoch, _QUICK_S):
            self.tend()
            left_s = self._patience_left_s(epoch, blocked_since_s, timeout_s)
            look_s = self._parts.ledger.hedge(epoch, time.monotonic())
            self._receive(epoch, min(_LOOK_S, look_s, left_s))
        if self._auto is not None:
            self._auto.note_wait(time.monotonic() - began_s)

    def _receive(self, epoch: Epoch, timeout_s: float) -> bool:
        """Receive until a batch is ready or the links have changed; return whether one is."""
        ledger = self._parts.ledger
        seen_version = ledger.version
        self._parts.reception.wait(
            lambda: epoch.is_ready() or ledger.version != seen_version, timeout_s
        )
        return epoch.is_ready()

    def _patience_left_s(self, epoch: Epoch, blocked_since_s: float, timeout_s: float) -> float:
        """Return for how long the trainer may still wait, in seconds.

        Raises:
            DataServiceError: No longer.
        """
        crew, now_s = self._parts.ledger.crew, time.monotonic()
        if crew or self._num_local_workers:
            self._served_s = now_s
        blocked_s = now_s - blocked_since_s
        alone_s = now_s - max(self._served_s, blocked_since_s)
        limit_s = timeout_s or SERVER_TIMEOUT_S
        if alone_s >= limit_s or (timeout_s and blocked_s >= timeout_s and alone_s > 0):
            raise DataServiceError(
                f"No data server could be reached for {alone_s:.1f} s "
                f"({self._parts.remote.describe()}). Look into the log of these instances, or "
                "let the trainer prepare batches too with num_local_workers."
            )
        if timeout_s and blocked_s >= timeout_s:
            raise DataWorkerError(
                f"DataLoader timed out after {timeout_s} seconds. Batch {epoch.delivered} did "
                f"not come within timeout={timeout_s} s; {len(crew)} data workers are "
                "connected. Raise timeout, or find out why its samples take so long."
            )
        return min(limit_s - alone_s, timeout_s - blocked_s if timeout_s else limit_s)

    def tend(self) -> None:
        """Start data workers again that have ended, and tell what happened.

        Raises:
            DataServiceError: Nothing can be delivered any more.
        """
        self._parts.local.mend()
        for link in self._parts.ledger.suspects(time.monotonic(), _SUSPICION_S):
            self._events.put(
                f"data worker {link.data_worker} on {link.server} has not answered for "
                f"{_SUSPICION_S:.0f} s; others are asked meanwhile, if there are any"
            )
        remote = self._parts.remote
        if remote.are_new_to_refuse() or remote.is_slow_to_open(time.monotonic()):
            self._num_local_workers = self._parts.local.stand_in()
        self._tell()
        if self._auto is not None and self._auto.has_begun:
            self._settle_workers()
        if self._parts.ledger.error is not None:
            raise self._parts.ledger.error

    def _tell(self) -> None:
        while not self._events.empty():
            self._notify(self._events.get_nowait())

    def count(self, outcome: Answer, get_wait_s: float, *, was_ready: bool) -> None:
        """Count a delivered batch, and record what is due.

        Args:
            outcome: What was delivered.
            get_wait_s: How long the trainer was blocked for it, in seconds.
            was_ready: Whether it was there before the trainer asked.
        """
        self._parts.statistics.add_batch(outcome, get_wait_s, was_ready=was_ready)
        if self._auto is not None and outcome.server == LOCAL:
            self._auto.note_batch(outcome.busy_s)
        self._settle_workers()
        if self._parts.statistics.is_due():
            hand_over_records(self._parts)

    def _settle_workers(self) -> None:
        if self._auto is not None and self._auto.is_due():
            number = self._auto.settle(self.local_pids, self.ledger.crew.num_remote)
            self._num_local_workers = number
            self._parts.local.resize(number)

    def close(self) -> None:
        """End data workers and connections, and record the rest; safe twice."""
        self._finalizer()
