"""The data service's messages by hand, for tests of one end of a connection."""

from __future__ import annotations

import contextlib
import socket
import threading
from typing import TYPE_CHECKING

from smtc_lab.dataservice.protocol.receiver import Receiver, receive_one
from smtc_lab.dataservice.protocol.transport import PlainTransport, send_all
from smtc_lab.dataservice.protocol.wire import Kind, pack
from tests.kit.runs import PATIENCE_S

if TYPE_CHECKING:
    from collections.abc import Sequence

    from smtc_lab.dataservice.protocol.wire import Message


class RawPeer:
    """Whoever sits at the other end of a connected socket."""

    def __init__(self, connection: socket.socket) -> None:
        self._transport = PlainTransport(connection)
        self._receiver = Receiver(self._transport)

    def send(self, message: Sequence[memoryview]) -> None:
        """Send a message."""
        send_all(self._transport, message)

    def receive(self) -> Message | None:
        """Wait for a message; return None when the connection ended before it.

        Raises:
            ProtocolError: What came is not a message.
            TimeoutError: Nothing came for ``PATIENCE_S``.
        """
        return receive_one(self._receiver, self._transport, PATIENCE_S)


def raw(value: object, number: int = 7) -> bytes:
    """Return the bytes of an answer with a batch."""
    return b"".join(pack(Kind.BATCH, number, value))


def received(data: bytes) -> Message | None:
    """Return what a receiver makes of bytes after which the connection ends.

    Raises:
        ProtocolError: They are not a message.
    """
    ours, theirs = socket.socketpair()
    with ours, theirs:
        sender = threading.Thread(target=_send_and_end, args=(theirs, data))
        sender.start()
        try:
            return RawPeer(ours).receive()
        finally:
            ours.shutdown(socket.SHUT_RDWR)
            sender.join()


def _send_and_end(connection: socket.socket, data: bytes) -> None:
    with contextlib.suppress(OSError):  # the receiver has read enough
        connection.sendall(data)
        connection.shutdown(socket.SHUT_WR)
