"""The data service's messages by hand, for tests of one end of a connection."""

from __future__ import annotations

from typing import TYPE_CHECKING

from smtc_lab.dataservice.receiver import Receiver, receive_one
from smtc_lab.dataservice.transport import PlainTransport, send_all

if TYPE_CHECKING:
    import socket
    from collections.abc import Sequence

    from smtc_lab.dataservice.wire import Frame

_TIMEOUT_S = 30.0


class RawPeer:
    """Whoever sits at the other end of a connected socket."""

    def __init__(self, connection: socket.socket) -> None:
        self._transport = PlainTransport(connection)
        self._receiver = Receiver(self._transport)

    def send(self, message: Sequence[memoryview]) -> None:
        """Send a message."""
        send_all(self._transport, message)

    def receive(self) -> Frame | None:
        """Wait for a message; return None when the connection ended before it.

        Raises:
            ProtocolError: What came is not a message.
            TimeoutError: Nothing came for 30 s.
        """
        return receive_one(self._receiver, self._transport, _TIMEOUT_S)
