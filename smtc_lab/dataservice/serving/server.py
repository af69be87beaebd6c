"""A data server: listens on an instance, lets clients in that hold the job's secret."""

from __future__ import annotations

import functools
import os
import selectors
import socket
import time
from typing import TYPE_CHECKING

from smtc_lab.dataservice.placement import ServerAddress, check_secret
from smtc_lab.dataservice.protocol.handshake import ANY_DATA_WORKER
from smtc_lab.dataservice.protocol.sockets import StopFlag, close_in_children, pace
from smtc_lab.dataservice.serving.guard import Guard, Visitor
from smtc_lab.dataservice.serving.pool import DataWorkers
from smtc_lab.errors import DataServiceError

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable, Mapping

    from smtc_lab.dataservice.late_loaders.landmarks import Landmarks
    from smtc_lab.dataservice.source import LoaderSource

MAX_CONNECTIONS = 4096
"""Clients' connections that a data server has at one time, unless told otherwise."""

# A signal that comes just before the wait for events is handled only after it.
_LOOK_S = 0.5
_FIRST_PAUSE_S = 0.1
_LONGEST_PAUSE_S = 5.0
_STEADY_S = 5.0


class DataServer:
    """Serves the batches of some loaders to the trainers of one job.

    It runs in one thread and holds no state that matters: it may be killed and started again at
    any time, clients ask elsewhere meanwhile. It listens from its construction on, and answers
    while ``serve_forever`` runs.
    """

    def __init__(  # noqa: PLR0913  the options of one public object
        self,
        loaders: Mapping[str, LoaderSource],
        *,
        host: str,
        secret: bytes,
        port: int = 0,
        num_data_workers: int = 1,
        name: str | None = None,
        on_event: Callable[[str], None] | None = None,
        max_connections: int = MAX_CONNECTIONS,
        tls: bool = False,
        landmarks: Landmarks | None = None,
        bytes_per_s: float | None = None,
    ) -> None:
        """Listen.

        Args:
            loaders: What to serve, by loader name; see ``source_of``.
            host: The one address to listen on.
            secret: The job's secret, 32 bytes.
            port: TCP port; 0: any free one.
            num_data_workers: Data workers, at least 1.
            name: What messages and records call this instance; None: its host name.
            on_event: Gets one sentence for each fault that was mended or refused.
            max_connections: Clients' connections at one time; others are refused.
            tls: Whether to encrypt what is sent; the clients must do the same.
            landmarks: What the script has here, so that clients may tell of further loaders by
                it; None: they may not.
            bytes_per_s: Bytes that each connection carries in a second at most, as the network
                that it stands for, on Linux; None: as many as there is room for.

        Raises:
            DataServiceError: An argument is wrong, or the address cannot be listened on.
        """
        check_secret((), secret)
        if num_data_workers < 1:
            raise DataServiceError(
                f"A data server has num_data_workers={num_data_workers}, but needs at least 1. "
                "Raise it."
            )
        self._num_data_workers = num_data_workers
        self._name = name or os.environ.get("SM_CURRENT_HOST") or socket.gethostname()
        self._on_event = on_event or (lambda _: None)
        self._max_connections = max_connections
        self._pool = DataWorkers(
            dict(loaders),
            num_data_workers=num_data_workers,
            host=self._name,
            tls=_tls_context(secret) if tls else None,
            landmarks=landmarks,
        )
        self._bytes_per_s = bytes_per_s
        self._stop = StopFlag()
        self._selector = selectors.PollSelector()
        self._open_connections = dict.fromkeys(range(num_data_workers), 0)
        self._due_s: dict[int, float] = dict.fromkeys(range(num_data_workers), 0.0)
        self._started_s: dict[int, float] = {}
        self._pause_s = dict.fromkeys(range(num_data_workers), _FIRST_PAUSE_S)
        self._next = 0
        self._listener = _listen(host, port)
        self._guard = Guard(self._listener, self._selector, secret, self._admit, self._on_event)
        self.address = ServerAddress(host, self._listener.getsockname()[1])
        """Where clients find this server."""

    def serve_forever(self) -> None:
        """Serve until ``stop``; every process and socket is gone when it returns.

        Call it in the main thread of a process without other threads, where possible: data
        workers are forked from it, also later, when one has ended.
        """
        try:
            self._selector.register(self._stop, selectors.EVENT_READ, lambda: None)
            while not self._stop:
                self._start_due()
                for key, _ in self._selector.select(self._next_look_s()):
                    if not self._stop:
                        key.data()
                self._guard.drop_late()
        finally:
            self.close()

    def stop(self) -> None:
        """Let ``serve_forever`` return soon. Safe in signal handlers and in other threads."""
        self._stop.set()

    def close(self) -> None:
        """End the data workers and stop listening; safe twice."""
        self._stop.set()
        self._pool.end_all()
        self._guard.close()
        self._listener.close()
        self._selector.close()

    def _start_due(self) -> None:
        now_s = time.monotonic()
        for number in [number for number, due_s in self._due_s.items() if due_s <= now_s]:
            del self._due_s[number]
            self._pool.start(number)
            self._started_s[number] = now_s
            self._open_connections[number] = 0
            self._selector.register(
                self._pool.control(number),
                selectors.EVENT_READ,
                functools.partial(self._hear, number),
            )
            self._selector.register(
                self._pool.sentinel(number),
                selectors.EVENT_READ,
                functools.partial(self._mend, number),
            )

    def _next_look_s(self) -> float:
        """Return how long nothing needs to be done, in seconds."""
        dues_s = [*self._due_s.values(), self._guard.next_deadline_s()]
        return max(0.0, min(_LOOK_S, *(due_s - time.monotonic() for due_s in dues_s)))

    def _hear(self, number: int) -> None:
        """Count the connections that a data worker says have ended."""
        if number in self._due_s:
            return
        try:
            ended = self._pool.control(number).recv(4096, socket.MSG_DONTWAIT)
        except BlockingIOError:
            return
        except OSError:
            ended = b""
        if ended:
            self._open_connections[number] -= len(ended)
        else:
            self._mend(number)

    def _mend(self, number: int) -> None:
        """Note that a data worker has ended, and when to start it again."""
        if number in self._due_s:
            return
        self._selector.unregister(self._pool.control(number))
        self._selector.unregister(self._pool.sentinel(number))
        ended = self._pool.end(number)
        now_s = time.monotonic()
        steady = now_s - self._started_s[number] >= _STEADY_S
        pause_s = _FIRST_PAUSE_S if steady else self._pause_s[number]
        self._pause_s[number] = min(2 * pause_s, _LONGEST_PAUSE_S)
        self._due_s[number] = now_s if pause_s == _FIRST_PAUSE_S else now_s + pause_s
        self._open_connections[number] = 0
        self._on_event(f"data worker {number} on {self._name} {ended.told()}; started again")

    def _admit(self, visitor: Visitor) -> bool:
        """Hand a client to the data worker that it asks for; return whether that went."""
        if sum(self._open_connections.values()) >= self._max_connections:
            self._on_event(
                f"refused a client on {self._name}: there are {self._max_connections} "
                "connections already. Raise max_connections, or use fewer loaders or ranks."
            )
            return False
        number = visitor.data_worker
        if number is None:
            return False
        if number == ANY_DATA_WORKER:
            number = self._next
            self._next = (number + 1) % self._num_data_workers
        if self._bytes_per_s is not None:
            pace(visitor.connection, self._bytes_per_s)
        if not self._pool.connect(number, visitor.connection):
            return False
        self._open_connections[number] += 1
        return True


def _tls_context(secret: bytes) -> ssl.SSLContext:
    # Here, because it is slow to import and few need it.
    from smtc_lab.dataservice.protocol.tls import server_context  # noqa: PLC0415

    return server_context(secret)


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listener = socket.create_server((host, port), family=family, backlog=128)
    except OSError as error:
        raise DataServiceError(
            f"A data server cannot listen on {host}:{port} ({os.strerror(error.errno or 0)}). "
            "Choose another port (0: any free one), or an address of this instance."
        ) from error
    listener.setblocking(False)
    return close_in_children(listener)
