"""The data servers that a trainer asks."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

from smtc_lab.dataservice.client.greeting import Greeting
from smtc_lab.dataservice.protocol.sockets import (
    StopFlag,
    connect_tcp,
    hang_up,
    wait_for_any,
)
from smtc_lab.errors import DataServiceError, UnsendableError

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable
    from queue import SimpleQueue

    from smtc_lab.dataservice.client.ledger import Ledger
    from smtc_lab.dataservice.client.links import WorkerLink
    from smtc_lab.dataservice.client.reception import Reception
    from smtc_lab.dataservice.client.settings import ClientSettings
    from smtc_lab.dataservice.placement import ServerAddress
    from smtc_lab.dataservice.protocol.landing import LandingPool
    from smtc_lab.dataservice.protocol.messages import Hello

_SLOW_S = 5.0
_FIRST_PAUSE_S = 0.05
_LONGEST_PAUSE_S = 2.0
_MAX_DATA_WORKERS = 1024
_JOIN_S = 0.5


class RemoteServers:
    """Keeps a connection to each data worker of each server while the client lives."""

    def __init__(
        self,
        settings: ClientSettings,
        ledger: Ledger,
        reception: Reception,
        landing: LandingPool,
        events: SimpleQueue[str],
    ) -> None:
        self._settings = settings
        self.greeting = Greeting(settings, landing)
        """Makes links of connections."""
        self._ledger = ledger
        self._reception = reception
        self._events = events
        self._stop = StopFlag()
        # Taken by threads that connect only, never by a finalizer.
        self._changing = threading.Lock()
        self._links: dict[tuple[ServerAddress, int], _RemoteLink] = {}
        self._last: dict[tuple[ServerAddress, int], tuple[WorkerLink, int]] = {}
        self._whys = dict.fromkeys(settings.servers, "not connected yet")
        self._lost: set[ServerAddress] = set()
        self._connected: set[ServerAddress] = set()
        self._refused: set[ServerAddress] = set()
        self._is_refused = False
        self._waiting_since_s: dict[tuple[ServerAddress, int], float] = {}
        self._is_slow = False

    def start(self) -> None:
        """Connect; safe twice."""
        # Held, because a link that is quick would open its own server's first one again.
        with self._changing:
            for address in self._settings.servers:
                if (address, 0) not in self._links:
                    self._open(address, 0)

    def describe(self) -> str:
        """Return the servers, each with what is wrong with it."""
        return "; ".join(f"{address}: {why}" for address, why in list(self._whys.items()))

    def close(self) -> None:
        """End all connections, soon."""
        self._stop.set()
        ended: set[_RemoteLink] = set()
        # A link that was about to begin may have opened others of its server since.
        while links := set(self._links.values()) - ended:
            for link in links:
                link.hang_up()
            for link in links:
                link.join(_JOIN_S)
            ended |= links

    def _open(self, address: ServerAddress, data_worker: int) -> None:
        self._links[address, data_worker] = _RemoteLink(self, address, data_worker)

    def greet(
        self, connection: socket.socket, address: ServerAddress, data_worker: int
    ) -> tuple[WorkerLink, Hello]:
        """Return the link over a proven socket; see ``Greeting``."""
        where = address, data_worker
        _, last_pid = self._last.get(where, (None, 0))
        self._waiting_since_s[where] = time.monotonic()
        try:
            return self.greeting.greet(connection, data_worker, last_pid)
        finally:
            del self._waiting_since_s[where]

    def begin(
        self,
        address: ServerAddress,
        link: WorkerLink,
        hello: Hello,
        on_end: Callable[[], None],
    ) -> None:
        """Let a link take requests, and connect to the other data workers of its server."""
        where = address, hello.data_worker
        last, self._last[where] = self._last.get(where), (link, hello.pid)
        if last is not None and hello.before is not None and hello.before.pid == last[1]:
            self._ledger.explain(last[0], hello.before)
        with self._changing:
            self._whys[address] = "connected"
            self._connected.add(address)
            if address in self._lost:
                self._lost.discard(address)
                self._events.put(f"data server {hello.host} ({address}) is back")
            for number in range(min(hello.num_data_workers, _MAX_DATA_WORKERS)):
                if (address, number) not in self._links and not self._stop:
                    self._open(address, number)
        link.begin(self._ledger, self._reception, on_end)

    def failed(self, address: ServerAddress, why: str) -> None:
        """Take note that a connection could not be made, or has ended."""
        with self._changing:
            self._whys[address] = why
            if address in self._connected:
                self._connected.discard(address)
                self._lost.add(address)
                self._events.put(
                    f"data server {address} went away ({why}); its requests go elsewhere until "
                    "it is back"
                )

    def refused(self, address: ServerAddress, why: str) -> None:
        """Take note that a server cannot make the batches, and never will."""
        with self._changing:
            self._whys[address] = why
            self._refused.add(address)
        self._ledger.touch()

    def are_new_to_refuse(self) -> bool:
        """Return, once, whether no server will ever make a batch, and tell of it."""
        if self._is_refused or not self._refused or len(self._refused) < len(self._whys):
            return False
        self._is_refused = True
        whys = "; ".join(sorted(set(self._whys.values())))
        self._settings.tell_kept(
            f"is prepared by this trainer, since no data server can: {whys}"
        )
        return True

    def is_slow_to_open(self, now_s: float) -> bool:
        """Return, once, whether a server is slow to open what it was sent; tell of it."""
        since_s = min(list(self._waiting_since_s.values()), default=now_s)
        if self._is_slow or now_s - since_s < _SLOW_S:
            return False
        self._is_slow = True
        self._events.put(
            f"a data server has not opened what a loader needs for {_SLOW_S:.0f} s; this "
            "trainer makes batches meanwhile"
        )
        return True

    @property
    def stop(self) -> StopFlag:
        """Set when the client ends."""
        return self._stop


class _RemoteLink:
    """The connection to one data worker of a server, made again while the client lives."""

    def __init__(
        self, servers: RemoteServers, address: ServerAddress, data_worker: int
    ) -> None:
        self._servers = servers
        self._address = address
        self._data_worker = data_worker
        self._connection: socket.socket | None = None
        self._was_served = False
        self._thread = threading.Thread(
            target=self._keep_connected, name=f"smtc_lab data server {address}", daemon=True
        )
        self._thread.start()

    def hang_up(self) -> None:
        """End the connection; with the stop flag set, its thread ends too."""
        connection = self._connection
        if connection is not None:
            hang_up(connection)

    def join(self, timeout_s: float) -> None:
        """Wait for the thread's end."""
        if self._thread is not threading.current_thread():
            self._thread.join(timeout_s)

    def _keep_connected(self) -> None:
        stop, pause_s = self._servers.stop, _FIRST_PAUSE_S
        while not stop:
            self._was_served = False
            try:
                why = self._serve(connect_tcp(self._address.host, self._address.port))
            except UnsendableError as error:
                self._servers.refused(self._address, str(error))
                return
            except (OSError, DataServiceError) as error:
                why = str(error) or type(error).__name__
            if stop:
                return
            self._servers.failed(self._address, why)
            pause_s = _FIRST_PAUSE_S if self._was_served else min(2 * pause_s, _LONGEST_PAUSE_S)
            stop.wait(pause_s)

    def _serve(self, connection: socket.socket) -> str:
        """Use a connection until it ends; return why it has ended."""
        self._connection = connection
        stop, ended = self._servers.stop, StopFlag()
        try:
            if stop:  # else nobody would hang up on us
                return "stopped"
            connection = self._servers.greeting.prove(connection, self._data_worker)
            self._connection = connection
            link, hello = self._servers.greet(connection, self._address, self._data_worker)
            try:
                self._servers.begin(self._address, link, hello, ended.set)
                self._was_served = True
                wait_for_any(ended, stop)
            finally:
                link.end()
            return link.why
        finally:
            self._connection = None
            connection.close()
