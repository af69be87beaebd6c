"""The bytes of a connection, in the clear or through TLS, without ever waiting."""

from __future__ import annotations

import select
import socket
import ssl
import threading
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

# The kernel takes at most IOV_MAX (1024) buffers in one call.
_MAX_BUFFERS = 512
_BRIEF_BYTES = 2**20
_BRIEF_MS = 2
_NO_WAIT = socket.MSG_DONTWAIT | socket.MSG_NOSIGNAL


class Transport(Protocol):
    """One connection. Safe to use from two threads, one that receives and one that sends."""

    def fileno(self) -> int:
        """Return the descriptor to wait on."""
        ...

    def receive_into(self, views: Sequence[memoryview]) -> int:
        """Receive what is there, in order; return the bytes, 0 when the peer has ended.

        Fewer bytes than the views hold mean that there are no more at the moment.

        Raises:
            BlockingIOError: Nothing is there.
            OSError: The connection is gone.
        """
        ...

    def send(self, buffers: Sequence[memoryview]) -> list[memoryview]:
        """Send what the connection takes at once; return what is left.

        Raises:
            OSError: The connection is gone.
        """
        ...

    def wake_at(self, nbytes: int) -> None:
        """Let the descriptor be readable only once so many bytes are there, where that goes."""
        ...


class PlainTransport:
    """A socket as it is: TCP, or a socket pair."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        # A socket pair might be asked to wait for more than it holds.
        self._wakes_at = 1 if connection.family in {socket.AF_INET, socket.AF_INET6} else None

    def fileno(self) -> int:
        """Return the descriptor to wait on."""
        return self._connection.fileno()

    def receive_into(self, views: Sequence[memoryview]) -> int:
        """Receive what is there; see ``Transport``."""
        if len(views) == 1:
            return self._connection.recv_into(views[0], 0, socket.MSG_DONTWAIT)
        return self._connection.recvmsg_into(views[:_MAX_BUFFERS], 0, socket.MSG_DONTWAIT)[0]

    def send(self, buffers: Sequence[memoryview]) -> list[memoryview]:
        """Send what the connection takes at once; return what is left."""
        pending = list(buffers)
        try:
            while pending:
                sent = self._connection.sendmsg(pending[:_MAX_BUFFERS], [], _NO_WAIT)
                pending = unsent(pending, sent)
        except BlockingIOError:
            pass
        return pending

    def wake_at(self, nbytes: int) -> None:
        """Let the descriptor be readable only once so many bytes are there."""
        if self._wakes_at is not None and nbytes != self._wakes_at:
            self._wakes_at = nbytes
            self._connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, nbytes)


class TlsTransport:
    """A socket through TLS, which takes one view and at most 16 KiB at a time."""

    def __init__(self, connection: ssl.SSLSocket) -> None:
        connection.setblocking(False)
        self._connection = connection
        # OpenSSL's connections must not be used by two threads at one time.
        self._using = threading.Lock()

    def fileno(self) -> int:
        """Return the descriptor to wait on."""
        return self._connection.fileno()

    def receive_into(self, views: Sequence[memoryview]) -> int:
        """Receive what is there; see ``Transport``."""
        received = 0
        for view in views:
            filled = 0
            while filled < view.nbytes:
                with self._using:
                    try:
                        count = self._connection.recv_into(view[filled:])
                    except (ssl.SSLWantReadError, ssl.SSLWantWriteError):
                        count = -1
                    except (ssl.SSLEOFError, ssl.SSLZeroReturnError):
                        count = 0
                if count <= 0:
                    if received or count == 0:
                        return received
                    raise BlockingIOError
                filled += count
                received += count
        return received

    def send(self, buffers: Sequence[memoryview]) -> list[memoryview]:
        """Send what the connection takes at once; return what is left."""
        for index, view in enumerate(buffers):
            sent = 0
            while sent < view.nbytes:
                with self._using:
                    try:
                        sent += self._connection.send(view[sent:])
                    except (ssl.SSLWantReadError, ssl.SSLWantWriteError):
                        return [view[sent:], *buffers[index + 1 :]]
        return []

    def wake_at(self, nbytes: int) -> None:
        """Do nothing: records of TLS end where they end."""


def send_all(transport: Transport, buffers: Sequence[memoryview]) -> None:
    """Send all buffers, waiting for as long as it takes.

    Raises:
        OSError: The connection is gone.
    """
    poll = select.poll()
    poll.register(transport.fileno(), select.POLLOUT)
    pending = transport.send(buffers)
    while pending:
        poll.poll()
        pending = transport.send(pending)


def send_briefly(transport: Transport, buffers: Sequence[memoryview]) -> list[memoryview]:
    """Send what goes without a wait that is worth while to fill; return what is left.

    Raises:
        OSError: The connection is gone.
    """
    pending = transport.send(buffers)
    if pending and sum(view.nbytes for view in pending) <= _BRIEF_BYTES:
        poll = select.poll()
        poll.register(transport.fileno(), select.POLLOUT)
        if poll.poll(_BRIEF_MS):
            pending = transport.send(pending)
    return pending


def unsent(buffers: list[memoryview], sent: int) -> list[memoryview]:
    """Return what is left of the buffers after the first ``sent`` bytes."""
    for index, view in enumerate(buffers):
        if sent < view.nbytes:
            return [view[sent:] if sent else view, *buffers[index + 1 :]]
        sent -= view.nbytes
    return []
