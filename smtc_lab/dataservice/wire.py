"""Messages between clients and data workers: a fixed header, a JSON description, raw bytes.

Every length is checked before memory is set aside for it, and the payload's memory is set aside
only for a description that adds up to the announced length.
"""

from __future__ import annotations

import json
import socket
import struct
from dataclasses import dataclass
from enum import IntEnum
from itertools import islice
from typing import TYPE_CHECKING

import torch

from smtc_lab.dataservice import structure
from smtc_lab.dataservice.remedies import SAME_VERSION
from smtc_lab.errors import DataServiceError, ProtocolError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

MAGIC = b"SMTC"
VERSION = 1
"""Version of the messages; both sides must speak the same."""

MAX_JSON_BYTES = 2**26
"""The longest description, 64 MiB: text in batches is part of it."""

MAX_FRAME_BYTES = 2**32
"""The longest payload of one message, 4 GiB."""

HEADER = struct.Struct("!4sHHQIQ")
"""Magic, version, kind, request number, bytes of JSON, bytes of payload."""

# The kernel takes at most IOV_MAX (1024) buffers in one call.
_MAX_BUFFERS = 512

_to_json = json.JSONEncoder(
    ensure_ascii=False, check_circular=False, separators=(",", ":")
).encode


class Kind(IntEnum):
    """What a message is."""

    HELLO = 1
    """A data worker says who it is and which loaders it serves."""

    REQUEST = 2
    """A client asks for the batch of some sample indices."""

    BATCH = 3
    """A data worker answers with the batch."""

    ERROR = 4
    """A data worker answers why there is no batch."""


@dataclass(frozen=True, slots=True)
class Frame:
    """One received message."""

    kind: Kind
    """What it is."""

    number: int
    """The request that it belongs to; 0 in a hello."""

    value: object
    """Its content."""

    payload_bytes: int
    """Raw bytes that came with it."""


def pack(kind: Kind, number: int, value: object) -> list[memoryview]:
    """Return the memory of a message, ready for ``send``; tensors are not copied.

    Raises:
        DataServiceError: The value holds something that cannot be sent, or is too large.
    """
    description, buffers = structure.encode(value)
    try:
        text = _to_json(description).encode("utf-8", "surrogatepass")
    except ValueError as error:
        raise DataServiceError(
            f"The batch holds a number that cannot be written ({error}). Return numbers of at "
            "most 64 bits from the dataset."
        ) from error
    nbytes = sum(view.nbytes for view in buffers)
    if len(text) > MAX_JSON_BYTES or nbytes > MAX_FRAME_BYTES:
        raise DataServiceError(
            f"The batch has {nbytes} bytes of tensors and {len(text)} bytes of other values, "
            f"but at most {MAX_FRAME_BYTES} and {MAX_JSON_BYTES} can be sent. Make smaller "
            "batches."
        )
    header = HEADER.pack(MAGIC, VERSION, kind, number, len(text), nbytes)
    return [memoryview(header + text), *buffers]


def send(connection: socket.socket, buffers: Sequence[memoryview]) -> None:
    """Send all the memory of a message.

    Raises:
        OSError: The connection is gone.
    """
    pending = list(buffers)
    while pending:
        sent = connection.sendmsg(pending[:_MAX_BUFFERS], [], socket.MSG_NOSIGNAL)
        pending = unsent(pending, sent)


def send_at_once(connection: socket.socket, buffers: Sequence[memoryview]) -> list[memoryview]:
    """Send what the connection takes without waiting; return what is left.

    Raises:
        OSError: The connection is gone.
    """
    pending = list(buffers)
    try:
        while pending:
            flags = socket.MSG_DONTWAIT | socket.MSG_NOSIGNAL
            sent = connection.sendmsg(pending[:_MAX_BUFFERS], [], flags)
            pending = unsent(pending, sent)
    except BlockingIOError:
        pass
    return pending


def unsent(buffers: list[memoryview], sent: int) -> list[memoryview]:
    """Return what is left of the buffers after the first ``sent`` bytes."""
    for index, view in enumerate(buffers):
        if sent < view.nbytes:
            return [view[sent:], *buffers[index + 1 :]]
        sent -= view.nbytes
    return []


def empty_bytes(nbytes: int) -> torch.Tensor:
    """Return fresh memory for a tensor of so many bytes."""
    return torch.empty(nbytes, dtype=torch.uint8)


def receive(
    connection: socket.socket, take: Callable[[int], torch.Tensor] = empty_bytes
) -> Frame | None:
    """Wait for one message on a blocking socket.

    Args:
        connection: A blocking socket.
        take: Returns the memory for a tensor: so many bytes, with a storage of its own.

    Returns:
        The message, or None when the peer closed the connection between two messages.

    Raises:
        ProtocolError: The bytes are not a message of this version, or end within one.
        OSError: The connection is gone.
    """
    header = memoryview(bytearray(HEADER.size))
    if not fill(connection, [header], may_end=True):
        return None
    kind, number, json_bytes, payload_bytes = _check_header(header)
    text = bytearray(json_bytes)
    fill(connection, [memoryview(text)])
    description = _parse_json(text)
    leaves = structure.parse(description)
    expected_bytes = sum(leaf.nbytes for leaf in leaves)
    if expected_bytes != payload_bytes:
        raise ProtocolError(
            f"A message announces {payload_bytes} bytes, but describes {expected_bytes}. The "
            "peer is not a data server of this version."
        )
    landed = [leaf.allocate(take) for leaf in leaves]
    fill(connection, [view for _, view in landed if view.nbytes])
    finished = (leaf.finish(item) for leaf, (item, _) in zip(leaves, landed, strict=True))
    return Frame(kind, number, structure.build(description, finished), payload_bytes)


def fill(connection: socket.socket, views: list[memoryview], *, may_end: bool = False) -> bool:
    """Receive until all the memory is filled.

    Args:
        connection: A blocking socket.
        views: Writable memory.
        may_end: Whether the connection may end before the first byte.

    Returns:
        Whether it was filled; False only with ``may_end``.

    Raises:
        ProtocolError: The connection ended before all bytes came.
    """
    pending = [view for view in views if view.nbytes]
    missing = sum(view.nbytes for view in pending)
    started = False
    while pending:
        if len(pending) == 1:
            received = connection.recv_into(pending[0], 0, socket.MSG_WAITALL)
        else:
            some = list(islice(pending, _MAX_BUFFERS))
            received = connection.recvmsg_into(some, 0, socket.MSG_WAITALL)[0]
        if received == 0:
            if may_end and not started:
                return False
            raise ProtocolError(
                f"A message ended {missing} bytes too early: the peer was stopped while it "
                "sent. Look into its log."
            )
        started = True
        missing -= received
        pending = unsent(pending, received)
    return True


def _check_header(header: memoryview) -> tuple[Kind, int, int, int]:
    magic, version, kind, number, json_bytes, payload_bytes = HEADER.unpack(header)
    if magic != MAGIC or version != VERSION:
        raise ProtocolError(
            f"A message begins with {magic!r}, version {version}, but must begin with "
            f"{MAGIC!r}, version {VERSION}. {SAME_VERSION}"
        )
    if kind not in Kind.__members__.values():
        raise ProtocolError(f"A message is of kind {kind}, which is not known. {SAME_VERSION}")
    if json_bytes > MAX_JSON_BYTES or payload_bytes > MAX_FRAME_BYTES:
        raise ProtocolError(
            f"A message announces {json_bytes} and {payload_bytes} bytes, but at most "
            f"{MAX_JSON_BYTES} and {MAX_FRAME_BYTES} are received. Make smaller batches."
        )
    return Kind(kind), number, json_bytes, payload_bytes


def _parse_json(text: bytearray) -> object:
    try:
        description: object = json.loads(text.decode("utf-8", "surrogatepass"))
    except (ValueError, RecursionError) as error:
        raise ProtocolError(
            f"A message's description is not JSON ({str(error)[:80]}). The peer is not a data "
            "server of this version."
        ) from error
    return description
