"""What a data worker does all day: takes connections and requests, makes batches, answers."""

from __future__ import annotations

import contextlib
import os
import select
import socket
import sys
import threading
import time
from collections import deque
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, NoReturn

from smtc_lab.dataservice.protocol.connection import WorkerConnection
from smtc_lab.dataservice.protocol.transport import TlsTransport

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable

    from smtc_lab.dataservice.protocol.messages import BatchRequest, ToldLoader
    from smtc_lab.dataservice.serving.batch_maker import BatchMaker
    from smtc_lab.machine.quota.vcpu import Vcpu

CLOSED = b"-"
"""What a data worker writes to its control socket for each connection that ended."""

_LOOK_MS = 20
_QUICK_S = 0.0002
_QUICK_RUN = 8
_TLS_TIMEOUT_S = 5.0


class Desk:
    """Serves all connections of one data worker, one batch at a time, in the order asked."""

    def __init__(
        self,
        control: socket.socket,
        maker: BatchMaker,
        *,
        release: Callable[[int], None] | None,
        tls: ssl.SSLContext | None,
        vcpu: Vcpu | None = None,
    ) -> None:
        self._control = control
        self._maker = maker
        self._release = release
        self._tls = tls
        self._vcpu = vcpu
        self._poll = select.epoll()
        self._poll.register(control, select.EPOLLIN)
        self._connections: dict[int, WorkerConnection] = {}
        self._full: dict[int, WorkerConnection] = {}
        self._asked: deque[tuple[WorkerConnection, int, BatchRequest | ToldLoader]] = deque()
        # Handshakes of TLS take their time, in threads of their own.
        self._secured: SimpleQueue[tuple[socket.socket, ssl.SSLSocket | None]] = SimpleQueue()
        self._securing = 0
        self._quick_run = 0

    def work(self) -> NoReturn:
        """Work until the control socket ends, and the process with it."""
        while True:
            for descriptor, _ in self._poll.poll(self._look_s()):
                if descriptor == self._control.fileno():
                    self._admit()
                elif descriptor in self._connections:
                    self._read(self._connections[descriptor])
            if self._asked:
                self._answer(*self._asked.popleft())
            if self._full:
                self._resume()
            if self._securing:
                self._welcome_secured()

    def _answer(
        self, connection: WorkerConnection, number: int, request: BatchRequest | ToldLoader
    ) -> None:
        if not connection.is_open:
            return
        if self._vcpu is not None:
            self._vcpu.begin()
        started_s = time.perf_counter()
        message = self._maker.answer(number, request, put_wait_s=connection.take_put_wait_s())
        # What the dataset printed would otherwise die with the process.
        sys.stdout.flush()
        # A single quick batch does not tell that the next one will not keep it waiting.
        is_quick = time.perf_counter() - started_s < _QUICK_S
        self._quick_run = self._quick_run + 1 if is_quick else 0
        next_is_its = bool(self._asked) and self._asked[0][0] is connection
        connection.reply(message, more_follows=self._quick_run >= _QUICK_RUN and next_is_its)
        if self._vcpu is not None:
            self._vcpu.note()

    def _look_s(self) -> float:
        """Return how long to wait for requests; negative: for as long as it takes."""
        if self._asked:
            return 0
        return _LOOK_MS / 1000 if self._full or self._securing else -1

    def _admit(self) -> None:
        try:
            said, descriptors, _, _ = socket.recv_fds(self._control, 1, 1)
        except OSError:
            said, descriptors = b"", []
        if not said:
            os._exit(0)
        if not descriptors:
            self._tell()  # this process has no descriptor left for the connection
        for descriptor in descriptors:
            peer = socket.socket(fileno=descriptor)
            if self._tls is None:
                peer.setblocking(True)
                self._welcome(peer, WorkerConnection(peer, release=self._release))
            else:
                self._securing += 1
                threading.Thread(
                    target=self._secure, args=(peer, self._tls), daemon=True
                ).start()

    def _secure(self, peer: socket.socket, tls: ssl.SSLContext) -> None:
        try:
            peer.settimeout(_TLS_TIMEOUT_S)
            self._secured.put((peer, tls.wrap_socket(peer, server_side=True)))
        except OSError:
            self._secured.put((peer, None))

    def _welcome_secured(self) -> None:
        with contextlib.suppress(Empty):
            while True:
                peer, secured = self._secured.get_nowait()
                self._securing -= 1
                if secured is None:
                    peer.close()
                    self._tell()
                else:
                    transport = TlsTransport(secured)
                    self._welcome(secured, WorkerConnection(secured, transport=transport))

    def _welcome(self, peer: socket.socket, connection: WorkerConnection) -> None:
        self._connections[peer.fileno()] = connection
        self._poll.register(peer, select.EPOLLIN)
        connection.send(self._maker.hello())

    def _read(self, connection: WorkerConnection) -> None:
        for number, request in connection.requests():
            self._asked.append((connection, number, request))
        if not connection.is_open:
            self._forget(connection)
        elif connection.is_full:
            self._poll.unregister(connection)
            self._full[connection.fileno()] = connection

    def _resume(self) -> None:
        """Read those again that have room for more requests."""
        for descriptor, connection in list(self._full.items()):
            if connection.is_open and connection.is_full:
                continue
            del self._full[descriptor]
            self._poll.register(descriptor, select.EPOLLIN)
            if connection.may_have_more:
                self._read(connection)

    def _forget(self, connection: WorkerConnection) -> None:
        descriptor = connection.fileno()
        del self._connections[descriptor]
        self._poll.unregister(descriptor)
        connection.close()
        self._tell()

    def _tell(self) -> None:
        try:
            self._control.send(CLOSED)
        except OSError:
            os._exit(0)
