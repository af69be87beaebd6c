"""The data workers on the trainer's own CPUs."""

from __future__ import annotations

import contextlib
import os
import socket
import threading
from typing import TYPE_CHECKING

from smtc_lab.dataservice.client.links import WorkerLink
from smtc_lab.dataservice.client.statistics import LOCAL
from smtc_lab.dataservice.protocol.receiver import Receiver
from smtc_lab.dataservice.protocol.segments import SharedFile, SharedViews
from smtc_lab.dataservice.protocol.sockets import close_in_children
from smtc_lab.dataservice.protocol.transport import PlainTransport
from smtc_lab.dataservice.serving.pool import DataWorkers
from smtc_lab.errors import DataWorkerError

if TYPE_CHECKING:
    from queue import SimpleQueue

    from smtc_lab.dataservice.client.ledger import Ledger
    from smtc_lab.dataservice.client.reception import Reception
    from smtc_lab.dataservice.client.settings import ClientSettings

_MAX_STILLBORN = 8
_NICENESS = 10


def host_name() -> str:
    """Return what messages call this instance."""
    return os.environ.get("SM_CURRENT_HOST") or socket.gethostname()


class _Local:
    """One data worker of the trainer, and its link."""

    def __init__(self, number: int, file: SharedFile, connection: socket.socket) -> None:
        self.connection = close_in_children(connection)
        transport, views = PlainTransport(connection), SharedViews(file)
        self.link = WorkerLink(
            connection,
            transport,
            Receiver(transport, views),
            server=LOCAL,
            data_worker=number,
            views=views,
            has_said_hello=False,
        )

    def close(self, *, failed: bool) -> None:
        """End the connection; ``failed``: whether the data worker went by itself."""
        self.link.end(failed=failed)
        self.connection.close()


class LocalWorkers:
    """Data workers that the trainer forks itself, and their links.

    They are forked, also later, in the thread that iterates over the loader, as torch does it.
    """

    def __init__(
        self,
        settings: ClientSettings,
        ledger: Ledger,
        reception: Reception,
        events: SimpleQueue[str],
    ) -> None:
        self._num_local_workers = settings.num_local_workers
        self._own_workers = settings.own_workers
        self._ledger = ledger
        self._reception = reception
        self._events = events
        self._pool = DataWorkers(
            settings.source,
            num_data_workers=settings.most_local_workers,
            host=host_name(),
            are_vcpus=settings.are_vcpus,
            is_in_turn=settings.recipe is not None and settings.source.num_workers == 0,
        )
        self._workers: dict[int, _Local] = {}
        self._stillborn = 0
        # Held by whoever forks or ends data workers. A finalizer that finds it taken lets be.
        self._busy = threading.Lock()

    @property
    def pids(self) -> list[int]:
        """Process ids of the data workers that run."""
        found = [self._pool.pid(number) for number in list(self._workers)]
        return [pid for pid in found if pid is not None]

    def start(self) -> None:
        """Fork the data workers that are not there."""
        with self._busy:
            missing = [n for n in range(self._num_local_workers) if n not in self._workers]
            for number in missing:
                self._start(number)

    def mend(self) -> None:
        """Start data workers again that have ended by themselves."""
        if not self._workers:
            return
        with self._busy:
            for number, worker in list(self._workers.items()):
                if worker.link.has_ended or not self._pool.is_alive(number):
                    self._mend(number, worker)

    def resize(self, num_local_workers: int) -> None:
        """Have so many data workers from now on; what an ended one was asked goes elsewhere."""
        if num_local_workers == self._num_local_workers:
            return
        self._num_local_workers = num_local_workers
        with self._busy:
            for number in [one for one in self._workers if one >= num_local_workers]:
                self._workers.pop(number).close(failed=False)
                self._pool.end(number)
        self.start()

    def stand_in(self) -> int:
        """Have data workers in any case, because no server makes batches; return how many."""
        if not self._num_local_workers:
            self.resize(self._own_workers)
        return self._num_local_workers

    def stop(self, *, wait: bool = True) -> bool:
        """End all data workers; return False when they are being started or mended just now.

        Args:
            wait: Whether to wait for that; a finalizer must not.
        """
        if not self._busy.acquire(blocking=wait):
            return False
        try:
            for worker in self._workers.values():
                worker.close(failed=False)
            self._workers.clear()
            self._pool.end_all()
        finally:
            self._busy.release()
        return True

    def _mend(self, number: int, worker: _Local) -> None:
        ended = self._pool.end(number)
        worker.close(failed=True)
        self._ledger.explain(worker.link, ended)
        del self._workers[number]
        self._stillborn = 0 if worker.link.has_said_hello else self._stillborn + 1
        if self._stillborn >= _MAX_STILLBORN:
            self._ledger.fail(
                DataWorkerError(
                    f"{ended.told_as_torch()}. Data workers of this trainer ended "
                    f"{self._stillborn} times before they could begin. Look above for what "
                    "they printed, or use num_workers=0."
                )
            )
            return
        self._events.put(f"data worker {number} of this trainer {ended.told()}; started again")
        self._start(number)

    def _start(self, number: int) -> None:
        """Fork a data worker that steps back whenever the trainer itself wants the CPU."""
        file = SharedFile()
        ours = self._pool.start(number, file)
        pid = self._pool.pid(number)
        if pid is not None:
            with contextlib.suppress(OSError):  # it has ended already; mend() takes note
                os.setpriority(os.PRIO_PROCESS, pid, min(19, os.nice(0) + _NICENESS))
        worker = self._workers[number] = _Local(number, file, ours)
        worker.link.begin(self._ledger, self._reception)
