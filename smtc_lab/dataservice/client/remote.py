"""The data servers that a trainer asks."""

from __future__ import annotations

import ssl
import threading
from typing import TYPE_CHECKING

from smtc_lab.dataservice.client.links import WorkerLink
from smtc_lab.dataservice.protocol.handshake import prove_to_server
from smtc_lab.dataservice.protocol.messages import Hello, read_answer
from smtc_lab.dataservice.protocol.receiver import Receiver, receive_one
from smtc_lab.dataservice.protocol.remedies import SAME_LOADERS
from smtc_lab.dataservice.protocol.sockets import (
    StopFlag,
    close_in_children,
    connect_tcp,
    hang_up,
    wait_for_any,
)
from smtc_lab.dataservice.protocol.transport import PlainTransport, TlsTransport, send_all
from smtc_lab.dataservice.protocol.wire import Kind
from smtc_lab.errors import DataServiceError

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable
    from queue import SimpleQueue

    from smtc_lab.dataservice.client.ledger import Ledger
    from smtc_lab.dataservice.client.reception import Reception
    from smtc_lab.dataservice.client.settings import ClientSettings
    from smtc_lab.dataservice.placement import ServerAddress
    from smtc_lab.dataservice.protocol.landing import LandingPool

HELLO_TIMEOUT_S = 30.0
"""Longest wait for a data worker's first message: it may be busy in the dataset's own code."""

_TLS_TIMEOUT_S = 5.0
_FIRST_PAUSE_S = 0.05
_LONGEST_PAUSE_S = 2.0
_MAX_DATA_WORKERS = 1024
_JOIN_S = 0.5
_told: set[str] = set()


class LoaderRefusedError(DataServiceError):
    """A data server cannot make the batches of a loader that it was told of."""


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
        self._ledger = ledger
        self._reception = reception
        self._landing = landing
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

    def prove(self, connection: socket.socket, data_worker: int) -> socket.socket:
        """Prove to a server who we are; return the socket to go on with, encrypted if wanted.

        Raises:
            DataServiceError: It is no server of this job.
            OSError: The connection is gone, or the peer does not answer.
        """
        secret = self._settings.secret or b""
        prove_to_server(connection, secret, data_worker=data_worker)
        if not self._settings.tls:
            return connection
        # Here, because it is slow to import and few need it.
        from smtc_lab.dataservice.protocol.tls import client_context  # noqa: PLC0415

        connection.settimeout(_TLS_TIMEOUT_S)
        return close_in_children(client_context(secret).wrap_socket(connection))

    def greet(self, connection: socket.socket, data_worker: int) -> tuple[WorkerLink, Hello]:
        """Return the link over a proven socket, once the data worker has said hello.

        Raises:
            LoaderRefusedError: It cannot make the batches of the loader that it is told of.
            DataServiceError: It is no data worker.
            OSError: The connection is gone, or the peer does not answer.
        """
        transport: PlainTransport | TlsTransport = PlainTransport(connection)
        if isinstance(connection, ssl.SSLSocket):
            transport = TlsTransport(connection)
        receiver = Receiver(transport, self._landing)
        hello = Hello.read(receive_one(receiver, transport, HELLO_TIMEOUT_S))
        if self._settings.tell is not None and self._settings.loader not in hello.loaders:
            try:
                message = self._settings.tell().pack()
            except DataServiceError as error:
                raise LoaderRefusedError(str(error)) from error
            send_all(transport, message)
            frame = receive_one(receiver, transport, HELLO_TIMEOUT_S)
            if frame is not None and frame.kind is Kind.ERROR:
                raise LoaderRefusedError(str(read_answer(frame, server=hello.host).error))
            hello = Hello.read(frame)
        link = WorkerLink(
            connection, transport, receiver, server=hello.host, data_worker=data_worker
        )
        return link, hello

    def begin(
        self,
        address: ServerAddress,
        link: WorkerLink,
        hello: Hello,
        on_end: Callable[[], None],
    ) -> None:
        """Let a link take requests, and connect to the other data workers of its server.

        Raises:
            DataServiceError: The server is of no use.
        """
        where = address, hello.data_worker
        last, self._last[where] = self._last.get(where), (link, hello.pid)
        if last is not None and hello.before is not None and hello.before.pid == last[1]:
            self._ledger.explain(last[0], hello.before)
        loader = self._settings.loader
        if loader not in hello.loaders:
            served = ", ".join(map(repr, hello.loaders)) or "none"
            raise DataServiceError(
                f"serves the loaders {served}, but not {loader!r}. {SAME_LOADERS}"
            )
        here, there = self._settings.source.num_samples, hello.loaders[loader]
        if None not in (here, there) and here != there:
            self._ledger.fail(
                DataServiceError(
                    f"The dataset of loader {loader!r} has {here} samples here, but {there} on "
                    f"{hello.host}. Give all instances the same data and the same script."
                )
            )
            raise DataServiceError("has another dataset")
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
        if whys not in _told:  # a loader of each epoch would tell it again and again
            _told.add(whys)
            self._events.put(
                "no data server can make the batches of a loader that the script made after "
                f"its first iteration: {whys}. This trainer makes them. Create what "
                "is new before the first iteration"
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
            except LoaderRefusedError as error:
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
            connection = self._servers.prove(connection, self._data_worker)
            self._connection = connection
            link, hello = self._servers.greet(connection, self._data_worker)
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
