"""A data worker's end of one connection: reads ahead within limits, sends without waiting."""

from __future__ import annotations

import contextlib
import threading
from collections import deque
from typing import TYPE_CHECKING

from smtc_lab.dataservice import wire
from smtc_lab.dataservice.messages import BatchRequest
from smtc_lab.dataservice.sockets import hang_up
from smtc_lab.errors import ProtocolError

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable
    from queue import SimpleQueue

MAX_REQUESTS = 32
"""Requests of one connection that a data worker holds; it reads no further meanwhile."""


class WorkerConnection:
    """One client of a data worker.

    A client that does not read its batches holds up nobody else: what it does not take at once
    is sent by a thread of its own, and its further requests stay unread.
    """

    def __init__(
        self,
        peer: socket.socket,
        inbox: SimpleQueue[tuple[WorkerConnection, int, BatchRequest]],
        on_end: Callable[[], None],
    ) -> None:
        self._peer = peer
        self._inbox = inbox
        self._on_end = on_end
        self._slots = threading.Semaphore(MAX_REQUESTS)
        self._unsent: deque[list[memoryview]] = deque()
        self._more = threading.Condition()
        self._sender: threading.Thread | None = None
        self.is_open = True
        """False once the client is gone; its requests need no answer then."""

    def start(self, hello: list[memoryview]) -> None:
        """Greet the client, and put its requests into the inbox from now on."""
        threading.Thread(target=self._read, args=(hello,), daemon=True).start()

    def reply(self, message: list[memoryview]) -> None:
        """Send an answer; what the client does not take at once is sent later."""
        with self._more:
            rest = message
            if not self._unsent:
                try:
                    rest = wire.send_at_once(self._peer, message)
                except OSError:
                    self._end()
                    return
                if not rest:
                    self._slots.release()
                    return
            self._unsent.append(rest)
            self._more.notify()
            if self._sender is None:
                self._sender = threading.Thread(target=self._send_rest, daemon=True)
                self._sender.start()

    def _send_rest(self) -> None:
        while True:
            with self._more:
                self._more.wait_for(lambda: self._unsent or not self.is_open)
                if not self.is_open:
                    return
                message = self._unsent[0]
            try:
                wire.send(self._peer, message)
            except OSError:
                self._end()
                return
            with self._more:
                self._unsent.popleft()
            del message
            self._slots.release()

    def _read(self, hello: list[memoryview]) -> None:
        # A broken message is the client's to explain: it sees the connection end.
        with contextlib.suppress(OSError, ProtocolError):
            self._peer.setblocking(True)
            wire.send(self._peer, hello)
            while (frame := wire.receive(self._peer)) is not None:
                self._slots.acquire()
                self._inbox.put((self, frame.number, BatchRequest.read(frame)))
        self._end()
        with self._more:
            self._more.notify()
        if self._sender is not None:
            self._sender.join()
        self._peer.close()
        self._on_end()

    def _end(self) -> None:
        self.is_open = False
        hang_up(self._peer)
        # The reader may wait for a slot that no answer will free any more.
        self._slots.release()
