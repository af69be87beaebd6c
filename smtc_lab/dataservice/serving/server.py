"""A data server: listens on an instance, lets clients in that hold the job's secret."""

from __future__ import annotations

import os
import selectors
import socket
import time
from typing import TYPE_CHECKING

from smtc_lab.dataservice.placement import ServerAddress, check_secret
from smtc_lab.dataservice.protocol.sockets import StopFlag, close_in_children, pace
from smtc_lab.dataservice.serving.guard import Guard, Visitor
from smtc_lab.dataservice.serving.house import Household
from smtc_lab.dataservice.serving.houses import Houses
from smtc_lab.errors import DataServiceError

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable

MAX_CONNECTIONS = 4096
"""Clients' connections that a data server has at one time, unless told otherwise."""

# A signal that comes just before the wait for events is handled only after it.
_LOOK_S = 0.5


class DataServer:
    """Makes batches for the trainers of one job, of whatever loaders they send.

    It runs no line of their script: each trainer sends what its loaders need, and a process of
    its own opens that. The server runs in one thread and holds no state that matters: it may be
    killed and started again at any time, clients ask elsewhere meanwhile. It listens from its
    construction on, and answers while ``serve_forever`` runs.
    """

    def __init__(  # noqa: PLR0913  the options of one public object
        self,
        *,
        host: str,
        secret: bytes,
        port: int = 0,
        num_data_workers: int = 1,
        name: str | None = None,
        on_event: Callable[[str], None] | None = None,
        max_connections: int = MAX_CONNECTIONS,
        tls: bool = False,
        bytes_per_s: float | None = None,
    ) -> None:
        """Listen.

        Args:
            host: The one address to listen on.
            secret: The job's secret, 32 bytes. Whoever holds it may have code run here.
            port: TCP port; 0: any free one.
            num_data_workers: Data workers of each loader, at least 1.
            name: What messages and records call this instance; None: its host name.
            on_event: Gets one sentence for each fault that was mended or refused.
            max_connections: Clients' connections at one time; others are refused.
            tls: Whether to encrypt what is sent; the clients must do the same.
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
        self._bytes_per_s = bytes_per_s
        self._stop = StopFlag()
        self._selector = selectors.PollSelector()
        household = Household(
            host=self._name,
            num_data_workers=num_data_workers,
            tls=_tls_context(secret) if tls else None,
        )
        self._houses = Houses(household, self._selector, self._on_event)
        self._listener = _listen(host, port)
        self._guard = Guard(self._listener, self._selector, secret, self._admit, self._on_event)
        self.address = ServerAddress(host, self._listener.getsockname()[1])
        """Where clients find this server."""

    def serve_forever(self) -> None:
        """Serve until ``stop``; every process and socket is gone when it returns.

        Call it in the main thread of a process without other threads, where possible:
        processes are forked from it.
        """
        try:
            self._selector.register(self._stop, selectors.EVENT_READ, lambda: None)
            while not self._stop:
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
        self._houses.end_all()
        self._guard.close()
        self._listener.close()
        self._selector.close()

    def _next_look_s(self) -> float:
        """Return how long nothing needs to be done, in seconds."""
        return max(0.0, min(_LOOK_S, self._guard.next_deadline_s() - time.monotonic()))

    def _admit(self, visitor: Visitor) -> bool:
        """Hand a client to the house of its recipe; return whether that went."""
        if self._houses.num_connections >= self._max_connections:
            self._on_event(
                f"refused a client on {self._name}: there are {self._max_connections} "
                "connections already. Raise max_connections, or use fewer loaders or ranks."
            )
            return False
        number = visitor.data_worker
        if number is None or not 0 <= number < self._num_data_workers:
            return False
        if self._bytes_per_s is not None:
            pace(visitor.connection, self._bytes_per_s)
        return self._houses.admit(visitor.recipe, number, visitor.connection)


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
