"""One connection between a trainer and a reducer, read and written without waiting."""

from __future__ import annotations

import socket
from collections import deque
from typing import TYPE_CHECKING

from smtc_lab.parallel.reduce.wire import HEADER_BYTES, Header, unpacked

if TYPE_CHECKING:
    from collections.abc import Iterator

_SEND_BUFFER_BYTES = 128 * 1024
"""What the system holds of one connection: more would undo the order of sending."""

_GONE_MS = 8000


def tune(connection: socket.socket) -> None:
    """Send in the order and at the moment that a trainer chose; notice a peer that is gone."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _SEND_BUFFER_BYTES)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, _GONE_MS)


class Peer:
    """Reads whole messages from a connection, and keeps what is to be written.

    Args:
        connection: Its socket.
    """

    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection
        self.unsent: deque[memoryview] = deque()
        self._head = bytearray()
        self._header: Header | None = None
        self._body = bytearray()
        self._filled = 0

    def messages(self) -> Iterator[tuple[Header, bytearray]]:
        """Yield the messages that have come whole.

        Raises:
            OSError: The peer is gone.
            ValueError: It sent what is no message.
        """
        while True:
            try:
                whole = self._read()
            except BlockingIOError:
                return
            if whole is not None:
                yield whole

    def _read(self) -> tuple[Header, bytearray] | None:
        if self._header is None:
            self._head += self._some(
                self.connection.recv(HEADER_BYTES - len(self._head), socket.MSG_DONTWAIT)
            )
            if len(self._head) < HEADER_BYTES:
                return None
            self._header = unpacked(self._head)
            self._body, self._filled = bytearray(self._header.size), 0
            self._head.clear()
        elif self._filled < len(self._body):
            view = memoryview(self._body)[self._filled :]
            count = self.connection.recv_into(view, 0, socket.MSG_DONTWAIT)
            if not count:
                raise ConnectionResetError
            self._filled += count
        if self._filled < len(self._body):
            return None
        whole, self._header = (self._header, self._body), None
        return whole

    def write(self) -> bool:
        """Write what the system takes now; return whether all is written.

        Raises:
            OSError: The peer is gone.
        """
        while self.unsent:
            view = self.unsent.popleft()
            try:
                count = self.connection.send(view, socket.MSG_DONTWAIT)
            except BlockingIOError:
                count = 0
            if count < len(view):
                self.unsent.appendleft(view[count:])
                return False
        return True

    @staticmethod
    def _some(data: bytes) -> bytes:
        if not data:
            raise ConnectionResetError
        return data
