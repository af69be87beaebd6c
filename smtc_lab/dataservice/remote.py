"""The data servers that a trainer asks."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from smtc_lab.dataservice.links import RemoteLink, ServerTerms
from smtc_lab.dataservice.remedies import SAME_LOADERS
from smtc_lab.dataservice.sockets import StopFlag
from smtc_lab.errors import DataServiceError

if TYPE_CHECKING:
    from queue import SimpleQueue

    from smtc_lab.dataservice.ledger import Ledger
    from smtc_lab.dataservice.messages import Hello
    from smtc_lab.dataservice.placement import ServerAddress
    from smtc_lab.dataservice.settings import ClientSettings

_MAX_DATA_WORKERS = 1024
_JOIN_S = 0.5


class RemoteServers:
    """Keeps a connection to each data worker of each server while the client lives."""

    def __init__(
        self, settings: ClientSettings, ledger: Ledger, events: SimpleQueue[str]
    ) -> None:
        self._loader = settings.loader
        self._num_samples = settings.source.num_samples
        self._ledger = ledger
        self._events = events
        self._stop = StopFlag()
        self._terms = ServerTerms(
            settings.secret or b"", ledger, self._stop, self._greeted, self._failed
        )
        # Taken by link threads only, never by a finalizer.
        self._changing = threading.Lock()
        self._links: dict[tuple[ServerAddress, int], RemoteLink] = {}
        self._whys = dict.fromkeys(settings.servers, "not connected yet")
        self._lost: set[ServerAddress] = set()
        self._connected: set[ServerAddress] = set()
        for address in settings.servers:
            self._open(address, 0)

    def describe(self) -> str:
        """Return the servers, each with what is wrong with it."""
        return "; ".join(f"{address}: {why}" for address, why in list(self._whys.items()))

    def close(self) -> None:
        """End all connections, soon."""
        self._stop.set()
        links = list(self._links.values())
        for link in links:
            link.hang_up()
        for link in links:
            link.join(_JOIN_S)

    def _open(self, address: ServerAddress, data_worker: int) -> None:
        self._links[address, data_worker] = RemoteLink(address, data_worker, self._terms)

    def _greeted(self, address: ServerAddress, hello: Hello) -> str | None:
        """Take note of a data worker that answers; return why it is of no use, if so."""
        if self._loader not in hello.loaders:
            served = ", ".join(map(repr, hello.loaders)) or "none"
            return f"serves the loaders {served}, but not {self._loader!r}. {SAME_LOADERS}"
        length = hello.loaders[self._loader]
        if None not in (length, self._num_samples) and length != self._num_samples:
            self._ledger.fail(
                DataServiceError(
                    f"The dataset of loader {self._loader!r} has {self._num_samples} samples "
                    f"here, but {length} on {hello.host}. Give all instances the same data and "
                    "the same script."
                )
            )
            return "has another dataset"
        with self._changing:
            self._whys[address] = "connected"
            self._connected.add(address)
            if address in self._lost:
                self._lost.discard(address)
                self._events.put(f"data server {hello.host} ({address}) is back")
            for number in range(min(hello.num_data_workers, _MAX_DATA_WORKERS)):
                if (address, number) not in self._links and not self._stop:
                    self._open(address, number)
        return None

    def _failed(self, address: ServerAddress, why: str) -> None:
        with self._changing:
            self._whys[address] = why
            if address in self._connected:
                self._connected.discard(address)
                self._lost.add(address)
                self._events.put(
                    f"data server {address} went away ({why}); its requests go elsewhere until "
                    "it is back"
                )
