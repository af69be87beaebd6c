"""A reducer: sums the chunks of all trainers, and keeps nothing that matters."""

from __future__ import annotations

import contextlib
import os
import selectors
import socket
import threading
import time
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from smtc_lab.errors import HandshakeError
from smtc_lab.parallel.reduce.door import admit
from smtc_lab.parallel.reduce.peer import Peer, tune
from smtc_lab.parallel.reduce.wire import Header, ReduceMessage, packed, summed

if TYPE_CHECKING:
    from collections.abc import Callable

_MOST_VISITORS = 64
_DRAIN_S = 2.0
_BOTH = selectors.EVENT_READ | selectors.EVENT_WRITE


@dataclass(slots=True)
class _Pending:
    """Chunks that wait for the other ranks."""

    parts: dict[int, bytearray] = field(default_factory=dict)
    done: int = 2**63


class Reducer:
    """Sums what trainers send, in the order of their ranks, and answers all of them.

    It may be killed at any time: the trainers go elsewhere. When it loses one trainer it lets
    go of all, so that every rank goes elsewhere with the same chunks.

    Args:
        host: The one address to listen on.
        port: TCP port; 0: any free one.
        secret: The job's secret.
        on_event: Gets one sentence for each peer that was refused.

    Raises:
        OSError: The address cannot be listened on.
    """

    def __init__(
        self,
        host: str,
        port: int,
        secret: bytes,
        *,
        on_event: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._secret, self._on_event = secret, on_event
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self._listener = socket.create_server((host, port), family=family, backlog=128)
        self.address: tuple[str, int] = (host, self._listener.getsockname()[1])
        """Where trainers find it."""
        self._selector = selectors.DefaultSelector()
        self._listener.setblocking(False)
        self._wake = os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK)
        self._admitted: deque[tuple[socket.socket, int, int]] = deque()
        self._visitors = threading.BoundedSemaphore(_MOST_VISITORS)
        self._members: dict[int, Peer] = {}
        self._ranks = 0
        self._pending: dict[tuple[int, int], _Pending] = {}
        self._leaving: list[Peer] = []
        self._ends_s: float | None = None

    def serve_forever(self) -> None:
        """Sum until ``stop``; what is summed by then is still sent, for at most 2 s."""
        self._selector.register(self._listener, selectors.EVENT_READ, self._accept)
        self._selector.register(self._wake, selectors.EVENT_READ, self._welcome)
        while not self._is_over():
            for key, mask in self._selector.select(0.1 if self._ends_s else None):
                if isinstance(key.data, Peer):
                    self._serve(key.data, mask)
                else:
                    key.data()
        self._close()

    def start(self) -> threading.Thread:
        """Sum in a thread of this process."""
        thread = threading.Thread(target=self.serve_forever, name="smtc-reducer", daemon=True)
        thread.start()
        return thread

    def stop(self) -> None:
        """Let ``serve_forever`` return soon."""
        self._ends_s = time.monotonic() + _DRAIN_S
        with contextlib.suppress(OSError):
            os.eventfd_write(self._wake, 1)

    def _is_over(self) -> bool:
        if self._ends_s is None:
            return False
        unsent = any(peer.unsent for peer in [*self._members.values(), *self._leaving])
        return not unsent or time.monotonic() > self._ends_s

    def _close(self) -> None:
        for peer in [*self._members.values(), *self._leaving]:
            peer.connection.close()
        self._listener.close()
        self._selector.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            connection, _ = self._listener.accept()
            if not self._visitors.acquire(blocking=False):
                connection.close()
                return
            threading.Thread(target=self._admit, args=(connection,), daemon=True).start()

    def _admit(self, connection: socket.socket) -> None:
        """Let a visitor prove itself; a slow one holds up nobody."""
        try:
            rank, ranks = admit(connection, self._secret)
        except (HandshakeError, OSError) as error:
            connection.close()
            self._on_event(f"refused a peer of the reducer: {error}")
            return
        finally:
            self._visitors.release()
        self._admitted.append((connection, rank, ranks))
        os.eventfd_write(self._wake, 1)

    def _welcome(self) -> None:
        with contextlib.suppress(BlockingIOError):
            os.eventfd_read(self._wake)
        while self._admitted:
            connection, rank, ranks = self._admitted.popleft()
            if rank in self._members or ranks != self._ranks:  # another attempt begins
                self._let_go()
            tune(connection)
            connection.setblocking(False)
            self._ranks = ranks
            peer = self._members[rank] = Peer(connection)
            self._selector.register(connection, selectors.EVENT_READ, peer)

    def _serve(self, peer: Peer, mask: int) -> None:
        if peer.connection.fileno() < 0:
            return
        try:
            if mask & selectors.EVENT_READ and peer not in self._leaving:
                for header, body in peer.messages():
                    self._take(peer, header, body)
            self._flush(peer)
        except (OSError, ValueError):
            peer.unsent.clear()
            if peer in self._members.values():
                self._let_go()
            self._drop(peer)

    def _take(self, peer: Peer, header: Header, body: bytearray) -> None:
        if header.kind == ReduceMessage.PING:
            peer.unsent.append(memoryview(packed(header._replace(kind=ReduceMessage.PONG))))
            return
        rank = next((rank for rank, each in self._members.items() if each is peer), None)
        if rank is None:
            return
        key = (header.bucket, header.chunk)
        pending = self._pending.setdefault(key, _Pending())
        pending.parts[rank] = body
        pending.done = min(pending.done, header.done)
        if len(pending.parts) < self._ranks:
            return
        del self._pending[key]
        total = summed([pending.parts[each] for each in range(self._ranks)], header.dtype)
        answer = packed(header._replace(done=pending.done, size=len(total)))
        for member in list(self._members.values()):
            member.unsent += (memoryview(answer), total)
            if member is not peer:
                self._serve(member, 0)

    def _flush(self, peer: Peer) -> None:
        if peer.connection.fileno() < 0:
            return
        is_written = peer.write()
        if is_written and peer in self._leaving:
            self._drop(peer)
            return
        events = selectors.EVENT_READ if is_written else _BOTH
        self._selector.modify(peer.connection, events, peer)

    def _let_go(self) -> None:
        """Let go of all trainers, once they have what is summed."""
        members, self._members = [*self._members.values()], {}
        self._pending.clear()
        self._leaving += members
        for peer in members:
            self._serve(peer, 0)

    def _drop(self, peer: Peer) -> None:
        if peer in self._leaving:
            self._leaving.remove(peer)
        if peer.connection.fileno() >= 0:
            self._selector.unregister(peer.connection)
            peer.connection.close()
