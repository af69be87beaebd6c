"""The data workers on the trainer's own CPUs."""

from __future__ import annotations

import contextlib
import os
import socket
import threading
from typing import TYPE_CHECKING

from smtc_lab.dataservice.links import LocalLink
from smtc_lab.dataservice.pool import DataWorkers
from smtc_lab.dataservice.statistics import LOCAL
from smtc_lab.errors import DataServiceError

if TYPE_CHECKING:
    from queue import SimpleQueue

    from smtc_lab.dataservice.ledger import Ledger
    from smtc_lab.dataservice.settings import ClientSettings

_MAX_STILLBORN = 8
_NICENESS = 10


def host_name() -> str:
    """Return what messages call this instance."""
    return os.environ.get("SM_CURRENT_HOST") or socket.gethostname()


class LocalWorkers:
    """Data workers that the trainer forks itself, and their links.

    They are forked, also later, in the thread that iterates over the loader, as torch does it.
    """

    def __init__(
        self, settings: ClientSettings, ledger: Ledger, events: SimpleQueue[str]
    ) -> None:
        self._num_local_workers = settings.num_local_workers
        self._ledger = ledger
        self._events = events
        self._pool = DataWorkers(
            {settings.loader: settings.source},
            num_data_workers=settings.num_local_workers,
            host=host_name(),
        )
        self._links: dict[int, LocalLink] = {}
        self._stillborn = 0
        # Held by whoever forks or ends data workers. A finalizer that finds it taken lets be.
        self._busy = threading.Lock()

    @property
    def pids(self) -> list[int]:
        """Process ids of the data workers that run."""
        found = [self._pool.pid(number) for number in range(self._num_local_workers)]
        return [pid for pid in found if pid is not None]

    def start(self) -> None:
        """Fork the data workers that are not there."""
        with self._busy:
            missing = [n for n in range(self._num_local_workers) if n not in self._links]
            # All forks before the first thread of a link.
            for number in missing:
                self._start(number)
            for number in missing:
                self._connect(number)

    def mend(self) -> None:
        """Start data workers again that have ended by themselves."""
        if not self._links:
            return
        with self._busy:
            for number, link in list(self._links.items()):
                if link.has_ended or not self._pool.is_alive(number):
                    self._mend(number, link)

    def stop(self, *, wait: bool = True) -> bool:
        """End all data workers; return False when they are being started or mended just now.

        Args:
            wait: Whether to wait for that; a finalizer must not.
        """
        if not self._busy.acquire(blocking=wait):
            return False
        try:
            for link in self._links.values():
                link.close(failed=False)
            self._links.clear()
            self._pool.end_all()
        finally:
            self._busy.release()
        return True

    def _mend(self, number: int, link: LocalLink) -> None:
        how = self._pool.end(number)
        link.close(failed=True)
        del self._links[number]
        self._stillborn = 0 if link.has_said_hello else self._stillborn + 1
        if self._stillborn >= _MAX_STILLBORN:
            self._ledger.fail(
                DataServiceError(
                    f"Data workers of this trainer ended {self._stillborn} times before they "
                    f"could begin; data worker {number} {how}. Look above for what they "
                    "printed, or use num_workers=0."
                )
            )
            return
        self._events.put(f"data worker {number} of this trainer {how}; started again")
        self._start(number)
        self._connect(number)

    def _start(self, number: int) -> None:
        """Fork a data worker that steps back whenever the trainer itself wants the CPU."""
        self._pool.start(number)
        pid = self._pool.pid(number)
        if pid is not None:
            with contextlib.suppress(OSError):  # it has ended already; mend() takes note
                os.setpriority(os.PRIO_PROCESS, pid, _NICENESS)

    def _connect(self, number: int) -> None:
        ours, theirs = socket.socketpair()
        with theirs:
            self._pool.connect(number, theirs)
        self._links[number] = LocalLink(ours, self._ledger, server=LOCAL)
