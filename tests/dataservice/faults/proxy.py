"""A TCP proxy between trainers and a data server that delays, throttles, cuts and tampers."""

from __future__ import annotations

import contextlib
import socket
import threading
from typing import TYPE_CHECKING

from smtc_lab.dataservice.placement import ServerAddress
from tests.kit.runs import PATIENCE_S

if TYPE_CHECKING:
    from collections.abc import Callable

_CHUNK_BYTES = 2**16


class Proxy:
    """Hands bytes on between whoever connects to ``address`` and one target.

    Args:
        target: Where the data server listens.
        delay_s: How long each piece of at most 64 KiB is held back, in seconds.
        bytes_per_s: Throughput of each direction of each connection; None: not limited.
        tamper: Makes, for each connection, what changes the bytes from the server; it gets
            the bytes as they come and returns those to hand on. None: they stay as they are.
    """

    def __init__(
        self,
        target: ServerAddress,
        *,
        delay_s: float = 0.0,
        bytes_per_s: float | None = None,
        tamper: Callable[[], Callable[[bytes], bytes]] | None = None,
    ) -> None:
        self._target = target
        self._delay_s = delay_s
        self._bytes_per_s = bytes_per_s
        self._tamper = tamper
        self._closing = threading.Event()
        self._changing = threading.Lock()
        self._sockets: set[socket.socket] = set()
        self._threads: list[threading.Thread] = []
        self.connections = 0
        """Connections that were handed on until now."""
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=128)
        self.address = ServerAddress("127.0.0.1", self._listener.getsockname()[1])
        self._start(self._accept)

    def cut(self) -> None:
        """End all connections, in the middle of whatever they carry; new ones are taken."""
        with self._changing:
            for connection in self._sockets:
                _end(connection)

    def close(self) -> None:
        """End everything; safe twice."""
        self._closing.set()
        _end(self._listener)
        self.cut()
        for thread in self._threads:
            thread.join(PATIENCE_S)
            assert not thread.is_alive()
        self._listener.close()

    def _start(self, function: Callable[..., None], *arguments: object) -> None:
        thread = threading.Thread(target=function, args=arguments, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                near, _ = self._listener.accept()
                self._start(self._serve, near)

    def _serve(self, near: socket.socket) -> None:
        with near, contextlib.suppress(OSError), self._connected() as far:
            near.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            with self._changing:
                if self._closing.is_set():
                    return
                self.connections += 1
                self._sockets |= {near, far}
            back = threading.Thread(target=self._pump, args=(near, far, None), daemon=True)
            back.start()
            self._pump(far, near, self._tamper() if self._tamper else None)
            back.join()
            with self._changing:
                self._sockets -= {near, far}

    def _connected(self) -> socket.socket:
        far = socket.create_connection((self._target.host, self._target.port))
        far.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return far

    def _pump(
        self,
        source: socket.socket,
        sink: socket.socket,
        tamper: Callable[[bytes], bytes] | None,
    ) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(_CHUNK_BYTES):
                held_s = self._delay_s
                if self._bytes_per_s is not None:
                    held_s += len(data) / self._bytes_per_s
                if held_s and self._closing.wait(held_s):
                    break
                sink.sendall(tamper(data) if tamper else data)
        _end(source)
        _end(sink)


def _end(connection: socket.socket) -> None:
    # A plain close would not wake a thread, and a forked server may hold a copy.
    with contextlib.suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)
