"""Takes the messages of one connection apart as their bytes come."""

from __future__ import annotations

import select
from typing import TYPE_CHECKING

from smtc_lab.dataservice.protocol import structure
from smtc_lab.dataservice.protocol.landing import LandingPool
from smtc_lab.dataservice.protocol.transport import unsent
from smtc_lab.dataservice.protocol.wire import (
    HEADER,
    Announced,
    Described,
    Message,
    read_description,
    read_header,
)
from smtc_lab.errors import ProtocolError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from smtc_lab.dataservice.protocol.leaves import Memory
    from smtc_lab.dataservice.protocol.transport import Transport

WAKE_BYTES = 2**21
"""How much of a large batch is waited for before it is received on: with less, more time goes
into waking up than into copying."""

_SCRATCH_BYTES = 2**16
_LEAST_BYTES = 2**12


class ConnectionEndedError(OSError):
    """The peer closed the connection, between two messages."""


class _Landing:
    """The message whose payload is being received."""

    def __init__(self, announced: Announced, described: Described, memory: Memory) -> None:
        self.announced = announced
        self._described = described
        self._memory = memory
        self._items = [leaf.allocate(memory) for leaf in described.leaves]
        self.views = [view for _, view in self._items if view.nbytes]
        self.missing_bytes = described.payload_bytes

    def fill(self, count: int) -> None:
        """Note that so many bytes have come."""
        self.missing_bytes -= count
        self.views = unsent(self.views, count)

    def frame(self) -> Message:
        """Return the message, once nothing is missing."""
        leaves = self._described.leaves
        finished = (
            leaf.finish(item, self._memory)
            for leaf, (item, _) in zip(leaves, self._items, strict=True)
        )
        value = structure.build(self._described.structure, finished)
        said = self.announced
        return Message(
            said.kind,
            said.number,
            value,
            self._described.batch_bytes,
            said.busy_s,
            said.put_wait_s,
        )


class Receiver:
    """The receiving half of a connection. One thread at a time.

    Small messages are taken out of one buffer, many at a time. The payload of a large one is
    received straight into the memory of its tensors.
    """

    def __init__(self, transport: Transport, memory: Memory | None = None) -> None:
        self._transport = transport
        self._memory = LandingPool() if memory is None else memory
        self._scratch = memoryview(bytearray(_SCRATCH_BYTES))
        self._begin = 0
        self._end = 0
        self._landing: _Landing | None = None
        self._announced: Announced | None = None
        self._read_bytes = _SCRATCH_BYTES
        self.may_have_more = False
        """Whether bytes may be there of which the descriptor does not tell."""

    def receive(self) -> Iterator[Message]:
        """Yield the messages that are there, and return when there are no more for now.

        Raises:
            ConnectionEndedError: The peer closed the connection between two messages.
            ProtocolError: The bytes are not a message of this version, or end within one.
            OSError: The connection is gone.
        """
        self.may_have_more = True
        is_drained = False
        while True:
            while (frame := self._next()) is not None:
                yield frame
            if is_drained:
                break
            views = self._views()
            try:
                count = self._transport.receive_into(views)
            except BlockingIOError:
                break
            if count == 0:
                self._ended()
            is_drained = count < sum(view.nbytes for view in views)
            self._came(count)
        self.may_have_more = False
        missing = 0 if self._landing is None else self._landing.missing_bytes
        self._transport.wake_at(max(1, min(missing, WAKE_BYTES)))

    def _views(self) -> list[memoryview]:
        """Return the memory for the next bytes."""
        room = min(self._read_bytes, len(self._scratch) - self._end)
        rest = self._scratch[self._end : self._end + room]
        return [rest] if self._landing is None else [*self._landing.views, rest]

    def _came(self, count: int) -> None:
        if self._landing is not None:
            landed = min(count, self._landing.missing_bytes)
            self._landing.fill(landed)
            count -= landed
        self._end += count

    def _next(self) -> Message | None:
        """Return the next whole message; None: more bytes must come."""
        if self._landing is None and not self._begin_message():
            return None
        landing = self._landing
        assert landing is not None  # noqa: S101  set by _begin_message
        while landing.missing_bytes and self._begin < self._end:
            view = landing.views[0]
            count = min(view.nbytes, self._end - self._begin)
            view[:count] = self._scratch[self._begin : self._begin + count]
            landing.fill(count)
            self._begin += count
        if self._begin == self._end:
            self._begin = self._end = 0
        if landing.missing_bytes:
            return None
        self._landing = None
        return landing.frame()

    def _begin_message(self) -> bool:
        """Read header and description out of the scratch, if they are there."""
        if self._announced is None:
            if self._end - self._begin < HEADER.size:
                self._make_room(HEADER.size)
                return False
            header = self._scratch[self._begin : self._begin + HEADER.size]
            self._announced = read_header(header)
            self._begin += HEADER.size
            is_large = self._announced.payload_bytes >= _SCRATCH_BYTES
            self._read_bytes = _LEAST_BYTES if is_large else _SCRATCH_BYTES
        text_bytes = self._announced.text_bytes
        if self._end - self._begin < text_bytes:
            self._make_room(text_bytes)
            return False
        described = read_description(
            bytes(self._scratch[self._begin : self._begin + text_bytes])
        )
        self._begin += text_bytes
        if described.payload_bytes != self._announced.payload_bytes:
            raise ProtocolError(
                f"A message announces {self._announced.payload_bytes} bytes, but describes "
                f"{described.payload_bytes}. The peer is not a data server of this version."
            )
        self._landing = _Landing(self._announced, described, self._memory)
        self._announced = None
        return True

    def _make_room(self, nbytes: int) -> None:
        """Let ``nbytes`` bytes from the begin on fit; the scratch grows only as they come."""
        is_full = self._end == len(self._scratch)
        if not is_full and (self._begin == 0 or self._begin + nbytes <= len(self._scratch)):
            return
        there = self._scratch[self._begin : self._end]
        if there.nbytes > len(self._scratch) // 2:
            grown = memoryview(bytearray(2 * len(self._scratch)))
            grown[: there.nbytes] = there
            self._scratch = grown
        else:
            self._scratch[: there.nbytes] = bytes(there)
        self._begin, self._end = 0, there.nbytes
        self._read_bytes = max(self._read_bytes, min(nbytes, _SCRATCH_BYTES))

    def _ended(self) -> None:
        if self._landing is None and self._announced is None and self._begin == self._end:
            raise ConnectionEndedError("closed the connection")
        missing = HEADER.size if self._landing is None else self._landing.missing_bytes
        raise ProtocolError(
            f"A message ended {missing} bytes too early: the peer was stopped while it sent. "
            "Look into its log."
        )


def receive_one(
    receiver: Receiver, transport: Transport, timeout_s: float | None = None
) -> Message | None:
    """Wait for one message; return None when the peer closed the connection before it.

    Raises:
        ProtocolError: The bytes are not a message of this version, or end within one.
        TimeoutError: It did not come in time.
        OSError: The connection is gone.
    """
    poll = select.poll()
    poll.register(transport.fileno(), select.POLLIN)
    timeout_ms = None if timeout_s is None else timeout_s * 1000
    while True:
        try:
            for frame in receiver.receive():
                return frame
        except ConnectionEndedError:
            return None
        if not poll.poll(timeout_ms):
            raise TimeoutError(f"no message within {timeout_s} s")
