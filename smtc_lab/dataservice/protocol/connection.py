"""A data worker's end of one connection: takes requests, sends answers without waiting."""

from __future__ import annotations

import threading
import time
from collections import deque
from typing import TYPE_CHECKING

from smtc_lab.dataservice.protocol.messages import BatchRequest, read_release
from smtc_lab.dataservice.protocol.receiver import Receiver
from smtc_lab.dataservice.protocol.sockets import hang_up
from smtc_lab.dataservice.protocol.transport import PlainTransport, send_all, send_briefly
from smtc_lab.dataservice.protocol.wire import Kind
from smtc_lab.errors import ProtocolError

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable

    from smtc_lab.dataservice.protocol.transport import Transport

_MAX_HELD_BYTES = 2**14

MAX_REQUESTS = 64
"""Requests of one connection that a data worker holds; it reads no further meanwhile."""


class WorkerConnection:
    """The client of a data worker.

    What it does not take at once is sent by a thread of its own, and its further requests stay
    unread.
    """

    def __init__(
        self,
        peer: socket.socket,
        *,
        transport: Transport | None = None,
        receiver: Receiver | None = None,
        release: Callable[[int], None] | None = None,
    ) -> None:
        self._peer = peer
        self._transport = PlainTransport(peer) if transport is None else transport
        self._receiver = Receiver(self._transport) if receiver is None else receiver
        self._release = release
        self._unanswered = 0
        self._held: list[memoryview] = []
        self._unsent: deque[list[memoryview]] = deque()
        self._more = threading.Condition()
        self._sender: threading.Thread | None = None
        self._put_wait_s = 0.0
        self.is_open = True
        """False once the client is gone; its requests need no answer then."""

    def fileno(self) -> int:
        """Return the descriptor to wait on."""
        return self._peer.fileno()

    @property
    def is_full(self) -> bool:
        """Whether it has as many requests as it may; it should not be read meanwhile."""
        return self._unanswered + len(self._unsent) >= MAX_REQUESTS

    @property
    def may_have_more(self) -> bool:
        """Whether requests may be there of which the descriptor does not tell."""
        return self._receiver.may_have_more

    def wait_for_room(self) -> None:
        """Wait until the client has taken what lets it ask for more, or is gone."""
        with self._more:
            self._more.wait_for(lambda: not (self.is_full and self.is_open))

    def requests(self) -> list[tuple[int, BatchRequest]]:
        """Return the requests that are there, with their numbers; ends with the client."""
        found: list[tuple[int, BatchRequest]] = []
        # A broken message is the client's to explain: it sees the connection end.
        try:
            for frame in self._receiver.receive():
                if frame.kind is Kind.RELEASE and self._release is not None:
                    for offset in read_release(frame):
                        self._release(offset)
                    continue
                found.append((frame.number, BatchRequest.read(frame)))
                self._unanswered += 1
                if self.is_full:
                    break
        except (OSError, ProtocolError):
            self.end()
        return found

    def take_put_wait_s(self) -> float:
        """Return how long finished batches have waited for this client since the last call."""
        with self._more:
            waited_s, self._put_wait_s = self._put_wait_s, 0.0
            return waited_s

    def reply(self, message: list[memoryview], *, more_follows: bool = False) -> None:
        """Answer a request; what the client does not take at once is sent later.

        Args:
            message: The answer.
            more_follows: Whether the next answer is near, and a small one may wait for it: to
                send costs more than to make a small batch.
        """
        self._unanswered -= 1
        self._held += message
        if more_follows and sum(view.nbytes for view in self._held) < _MAX_HELD_BYTES:
            return
        message, self._held = self._held, []
        self.send(message)

    def send(self, message: list[memoryview]) -> None:
        """Send a message; what the client does not take at once is sent later."""
        with self._more:
            rest = message
            if not self._unsent:
                try:
                    rest = send_briefly(self._transport, message)
                except OSError:
                    self.end()
                    return
            if not rest:
                return
            self._unsent.append(rest)
            self._more.notify()
            if self._sender is None:
                self._sender = threading.Thread(target=self._send_rest, daemon=True)
                self._sender.start()

    def end(self) -> None:
        """End the connection for both sides; safe twice."""
        self.is_open = False
        hang_up(self._peer)

    def _send_rest(self) -> None:
        while True:
            with self._more:
                self._more.wait_for(lambda: self._unsent or not self.is_open)
                if not self.is_open:
                    return
                message = self._unsent[0]
            started_s = time.monotonic()
            try:
                send_all(self._transport, message)
            except OSError:
                with self._more:
                    self.end()
                    self._more.notify_all()
                return
            with self._more:
                self._unsent.popleft()
                self._put_wait_s += time.monotonic() - started_s
                self._more.notify_all()
            del message
