"""The door of a data server: handshakes with many visitors at once, in one thread."""

from __future__ import annotations

import contextlib
import functools
import selectors
import time
from typing import TYPE_CHECKING

from smtc_lab.dataservice.protocol.handshake import DEADLINE_S, ServerHandshake
from smtc_lab.dataservice.protocol.sockets import close_in_children, hang_up, tune_tcp
from smtc_lab.errors import HandshakeError

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable

MAX_VISITORS = 128
"""Handshakes at one time; the oldest gives way, so idle strangers do not keep clients out."""

_MAX_REMEMBERED_HOSTS = 256
_FULL_PAUSE_S = 0.1


class Visitor:
    """A peer that has not proved itself yet."""

    def __init__(self, connection: socket.socket, host: str, secret: bytes) -> None:
        self.connection = connection
        """Its socket, not blocking."""

        self.host = host
        """Where it comes from."""

        self.handshake = ServerHandshake(secret)
        """How far it is."""

        self.deadline_s = time.monotonic() + DEADLINE_S
        """When it is sent away."""

    @property
    def data_worker(self) -> int | None:
        """The data worker that it asks for; None until it has proved itself."""
        return self.handshake.data_worker

    @property
    def recipe(self) -> bytes:
        """Digest of the recipe that it wants batches by."""
        return self.handshake.recipe


class Guard:
    """Accepts connections and hands on those whose peer holds the secret."""

    def __init__(
        self,
        listener: socket.socket,
        selector: selectors.BaseSelector,
        secret: bytes,
        admit: Callable[[Visitor], bool],
        on_event: Callable[[str], None],
    ) -> None:
        self._listener = listener
        self._selector = selector
        self._secret = secret
        self._admit = admit
        self._on_event = on_event
        self._visitors: dict[int, Visitor] = {}
        self._refused_hosts: set[str] = set()
        self._listens_from_s: float | None = None
        selector.register(listener, selectors.EVENT_READ, self._accept)

    def next_deadline_s(self) -> float:
        """Return the time on the monotonic clock at which ``drop_late`` is due."""
        dues_s = [visitor.deadline_s for visitor in self._visitors.values()]
        if self._listens_from_s is not None:
            dues_s.append(self._listens_from_s)
        return min(dues_s, default=float("inf"))

    def drop_late(self) -> None:
        """Send visitors away who are too slow, and listen again after a pause."""
        now_s = time.monotonic()
        for visitor in [v for v in self._visitors.values() if v.deadline_s <= now_s]:
            self._refuse(visitor, f"it did not prove itself within {DEADLINE_S} s")
        if self._listens_from_s is not None and self._listens_from_s <= now_s:
            self._listens_from_s = None
            self._selector.register(self._listener, selectors.EVENT_READ, self._accept)

    def close(self) -> None:
        """Send all visitors away; safe twice."""
        for visitor in list(self._visitors.values()):
            self._forget(visitor)
            visitor.connection.close()

    def _accept(self) -> None:
        try:
            connection, (host, *_) = self._listener.accept()
        except (BlockingIOError, ConnectionError):
            return
        except OSError as error:
            # No descriptor is left for it: the listener would stay readable and burn a core.
            self._selector.unregister(self._listener)
            self._listens_from_s = time.monotonic() + _FULL_PAUSE_S
            self._on_event(f"a data server cannot accept connections: {error.strerror}")
            return
        connection.setblocking(False)
        with contextlib.suppress(OSError):
            tune_tcp(connection)
        if len(self._visitors) >= MAX_VISITORS:
            oldest = next(iter(self._visitors.values()))
            self._refuse(oldest, "too many peers did not prove themselves")
        visitor = Visitor(close_in_children(connection), str(host), self._secret)
        self._visitors[connection.fileno()] = visitor
        self._selector.register(
            connection, selectors.EVENT_READ, functools.partial(self._hear, visitor)
        )

    def _hear(self, visitor: Visitor) -> None:
        if self._visitors.get(visitor.connection.fileno()) is not visitor:
            return  # gave way in the same round
        try:
            data = visitor.connection.recv(visitor.handshake.wanted_bytes)
            if not data:
                self._forget(visitor)
                visitor.connection.close()
                return
            answer = visitor.handshake.feed(data)
            if visitor.data_worker is None:
                visitor.connection.sendall(answer)
                return
        except BlockingIOError:
            return
        except HandshakeError as error:
            self._refuse(visitor, str(error))
            return
        except OSError as error:
            self._refuse(visitor, str(error.strerror))
            return
        self._forget(visitor)
        with visitor.connection, contextlib.suppress(OSError):
            # The data worker greets at once, and its greeting must come after the proof.
            visitor.connection.sendall(answer)
            if not self._admit(visitor):
                hang_up(visitor.connection)

    def _refuse(self, visitor: Visitor, why: str) -> None:
        self._forget(visitor)
        visitor.connection.close()
        known = self._refused_hosts
        if visitor.host not in known and len(known) < _MAX_REMEMBERED_HOSTS:
            known.add(visitor.host)
            self._on_event(
                f"refused a peer from {visitor.host}: {why} (further ones from there are "
                "refused silently)"
            )

    def _forget(self, visitor: Visitor) -> None:
        self._selector.unregister(visitor.connection)
        del self._visitors[visitor.connection.fileno()]
