"""A trainer's side: buckets go out in chunks and come back summed, whichever reducer dies."""

from __future__ import annotations

import contextlib
import selectors
import socket
import threading
import time
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import torch

from smtc_lab.errors import RunFailedError
from smtc_lab.parallel.reduce.peer import Peer, tune
from smtc_lab.parallel.reduce.shares import chunks_of, next_server, sending_order
from smtc_lab.parallel.reduce.wire import DTYPES, Header, ReduceMessage, packed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from smtc_lab.parallel.reduce.shares import Chunk

SILENCE_LIMIT_S = 3.0
"""A reducer that was asked and says nothing for so long is lost."""

_PING_S = 1.0
_LOOK_S = 0.25


@dataclass(slots=True)
class _Sum:
    """One bucket on its way."""

    number: int
    values: torch.Tensor
    out: memoryview
    inputs: memoryview
    dtype: int
    future: Any
    chunks: dict[int, Chunk]
    where: dict[int, int]
    left: set[int] = field(default_factory=set)


class Reduction:
    """Averages gradients over all trainers, with reducers.

    Every rank gives the same buckets in the same order, and gets the same bits. A rank keeps a
    copy of what it sent until every rank has the sum, so that any reducer can be gone on
    without: a chunk that it had goes to another one, from all ranks.

    Args:
        connections: A connection to each server that is there, by its number: reducers first,
            then the trainers' own.
        rank: Number of this trainer.
        ranks: Trainers.
        reducers: Data instances that reduce, those without a connection included.
        on_event: Gets one sentence for each reducer that is lost.
    """

    def __init__(
        self,
        connections: Mapping[int, socket.socket],
        *,
        rank: int,
        ranks: int,
        reducers: int,
        on_event: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._rank, self._ranks, self._reducers = rank, ranks, reducers
        self._on_event = on_event
        self._peers = {server: Peer(each) for server, each in connections.items()}
        self._lost = frozenset(range(reducers + ranks)) - frozenset(connections)
        self._sums: dict[int, _Sum] = {}
        self._next = 0
        self._done = 0
        self._queue: deque[tuple[int, Header, memoryview]] = deque()
        self._changed = threading.Condition(threading.RLock())
        self._sending: tuple[int, float] | None = None
        self._asked_s: dict[int, float] = {}
        self._pinged: set[int] = set()
        self._is_open = True
        self._selector = selectors.DefaultSelector()
        for server, peer in self._peers.items():
            tune(peer.connection)
            peer.connection.settimeout(None)
            self._selector.register(peer.connection, selectors.EVENT_READ, server)
        for work in (self._send, self._receive):
            threading.Thread(target=work, name=f"smtc-{work.__name__}", daemon=True).start()

    def average(self, values: torch.Tensor) -> Any:  # noqa: ANN401  torch's futures are generic
        """Begin to average a bucket in place; return the future of its values.

        Args:
            values: Contiguous, on the CPU, of a type in ``wire.DTYPES``.
        """
        flat = values.detach().view(-1)
        raw = memoryview(flat.view(torch.uint8).numpy())  # type: ignore[arg-type]  # numpy does not say so
        chunks = chunks_of(len(raw), ranks=self._ranks, reducers=self._reducers)
        future: Any = torch.futures.Future()
        with self._changed:
            number, self._next = self._next, self._next + 1
            one = _Sum(
                number=number,
                values=values,
                out=raw,
                inputs=memoryview(bytes(raw)),
                dtype=DTYPES.index(str(values.dtype).removeprefix("torch.")),
                future=future,
                chunks={chunk.number: chunk for chunk in chunks},
                where={},
                left={chunk.number for chunk in chunks},
            )
            self._sums[number] = one
            servers = self._reducers + self._ranks
            for chunk in sending_order(chunks, rank=self._rank, servers=servers):
                self._put(one, chunk)
            if not chunks:
                self._complete(one)
            self._changed.notify_all()
        return future

    def close(self) -> None:
        """Hang up. Safe to call twice."""
        with self._changed:
            self._is_open = False
            self._changed.notify_all()
        for peer in self._peers.values():
            peer.connection.close()

    def _put(self, one: _Sum, chunk: Chunk) -> None:
        """Send a chunk where it belongs now; fail the bucket where nobody is left."""
        server = next_server(chunk, self._lost, ranks=self._ranks, reducers=self._reducers)
        if server is None:
            self._fail(one)
            return
        one.where[chunk.number] = server
        size = chunk.end - chunk.begin
        header = Header(
            ReduceMessage.CHUNK, one.dtype, one.number, chunk.number, size, self._done
        )
        self._queue.append((server, header, one.inputs[chunk.begin : chunk.end]))

    def _fail(self, one: _Sum) -> None:
        if one.future.done():
            return
        one.future.set_exception(
            RunFailedError(
                "No reducer is left, this trainer's connections to all of them have ended: "
                "another trainer died first. Look at its log."
            )
        )

    def _send(self) -> None:
        """Send chunks in turn, one at a time."""
        while True:
            with self._changed:
                self._sending = None
                self._changed.wait_for(lambda: self._queue or not self._is_open)
                if not self._is_open:
                    return
                server, header, data = self._queue.popleft()
                if server in self._lost:
                    continue
                self._sending = (server, time.monotonic())
                header = header._replace(done=self._done)
            connection = self._peers[server].connection
            try:
                connection.sendall(packed(header))
                connection.sendall(data)
            except OSError:
                self._lose(server, "its connection ended")

    def _receive(self) -> None:
        while self._is_open:
            for key, _ in self._selector.select(_LOOK_S):
                self._hear(key.data)
            self._look_for_silence()

    def _hear(self, server: int) -> None:
        peer = self._peers[server]
        try:
            for header, body in peer.messages():
                with self._changed:
                    self._heard(server)
                    if header.kind == ReduceMessage.CHUNK:
                        self._take(header, body)
        except (OSError, ValueError):
            self._lose(server, "its connection ended")

    def _heard(self, server: int) -> None:
        self._asked_s.pop(server, None)
        self._pinged.discard(server)

    def _take(self, header: Header, body: bytearray) -> None:
        one = self._sums.get(header.bucket)
        if one is not None and header.chunk in one.left:
            chunk = one.chunks[header.chunk]
            one.out[chunk.begin : chunk.end] = body
            one.left.discard(header.chunk)
            if not one.left:
                self._complete(one)
        for number in [number for number in self._sums if number < header.done]:
            del self._sums[number]

    def _complete(self, one: _Sum) -> None:
        self._done = min(
            (number for number, each in self._sums.items() if each.left), default=self._next
        )
        one.values.mul_(1 / self._ranks)
        if not one.future.done():
            one.future.set_result(one.values)

    def _lose(self, server: int, why: str) -> None:
        """Go on without a server: what it had goes elsewhere, from all ranks."""
        with self._changed:
            if server in self._lost or not self._is_open:
                return
            self._lost |= {server}
            self._heard(server)
            connection = self._peers[server].connection
            self._selector.unregister(connection)
            _hang_up(connection)
            for one in list(self._sums.values()):
                for number, where in list(one.where.items()):
                    if where == server:
                        self._put(one, one.chunks[number])
            self._changed.notify_all()
        if server < self._reducers:
            self._on_event(
                f"reducer {server} of {self._reducers} is lost ({why}): gradients are reduced "
                "without it from now on."
            )

    def _look_for_silence(self) -> None:
        """Ask servers that owe an answer whether they are there; lose who does not say so."""
        now_s = time.monotonic()
        with self._changed:
            sending = self._sending
            owing = {
                one.where[number] for one in self._sums.values() for number in one.left
            } - self._lost
            silent = []
            for server in owing:
                asked_s = self._asked_s.get(server)
                if asked_s is None:
                    self._asked_s[server] = now_s + _PING_S
                elif sending is None and now_s >= asked_s and server not in self._pinged:
                    self._pinged.add(server)
                    ping = Header(ReduceMessage.PING, 0, 0, 0, 0, self._done)
                    self._queue.append((server, ping, memoryview(b"")))
                    self._changed.notify_all()
                elif sending is None and now_s > asked_s + SILENCE_LIMIT_S:
                    silent.append(server)
            if sending is not None and now_s - sending[1] > SILENCE_LIMIT_S:
                silent = [sending[0]]
        for server in silent:
            self._lose(server, f"it said nothing for {SILENCE_LIMIT_S:g} s")


def _hang_up(connection: socket.socket) -> None:
    """End a connection for both sides; a thread that sends on it returns."""
    with contextlib.suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)
