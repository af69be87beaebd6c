"""Messages between clients and data workers: a fixed header, a JSON description, raw bytes.

Every length is checked before memory is set aside for it, and the payload's memory is set aside
only for a description that adds up to the announced length.
"""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache
from typing import TYPE_CHECKING

from smtc_lab.dataservice.protocol import structure
from smtc_lab.dataservice.protocol.remedies import SAME_VERSION
from smtc_lab.errors import DataServiceError, ProtocolError

if TYPE_CHECKING:
    from smtc_lab.dataservice.protocol.leaves import Leaf, Share

MAGIC = b"SMTC"
VERSION = 4
"""Version of the messages; both sides must speak the same."""

MAX_JSON_BYTES = 2**26
"""The longest description, 64 MiB: text in batches is part of it."""

MAX_FRAME_BYTES = 2**32
"""The longest payload of one message, 4 GiB."""

HEADER = struct.Struct("!4sHHQIIIQ")
"""Magic, version, kind, request number, busy and put wait in µs, bytes of JSON and payload."""

_MAX_REMEMBERED_BYTES = 4096
_MAX_MICROSECONDS = 2**32 - 1

_to_json = json.JSONEncoder(
    ensure_ascii=False, check_circular=False, separators=(",", ":")
).encode


class Kind(IntEnum):
    """What a message is."""

    HELLO = 1
    """A data worker says who it is."""

    REQUEST = 2
    """A client asks for the batch of some sample indices."""

    BATCH = 3
    """A data worker answers with the batch."""

    ERROR = 4
    """A data worker answers why there is no batch."""

    END = 5
    """A data worker answers that the stream has no such batch."""

    RELEASE = 6
    """A client gives shared memory back."""

    REQUEST_ANY = 8
    """As a request; the client reads pickles, too."""

    ASKER = 7
    """A client says who it is."""

    WANT = 9
    """A data server asks for what a loader needs; with or without the content of files."""

    RECIPE = 10
    """A client sends what a loader needs."""


_KINDS = {int(kind): kind for kind in Kind}


@dataclass(slots=True)  # not frozen: that costs more than to parse it
class Message:
    """One received message."""

    kind: Kind
    """What it is."""

    number: int
    """The request that it belongs to; 0 in a hello."""

    value: object
    """Its content."""

    payload_bytes: int
    """Bytes of its tensors, those in shared memory with them."""

    busy_s: float = 0.0
    """Time that the data worker spent on the batch, in seconds."""

    put_wait_s: float = 0.0
    """Time that its batch before this one waited to be taken by this client, in seconds."""


def pack(  # noqa: PLR0913  the parts of a message
    kind: Kind,
    number: int,
    value: object,
    *,
    busy_s: float = 0.0,
    put_wait_s: float = 0.0,
    share: Share | None = None,
    pickles: bool = False,
) -> list[memoryview]:
    """Return the memory of a message, ready to be sent; tensors are not copied.

    Args:
        kind: What it is.
        number: The request that it belongs to.
        value: Its content.
        busy_s: Time that was spent on the batch, in seconds.
        put_wait_s: Time that the batch before it waited to be taken, in seconds.
        share: Puts a tensor into memory that the peer sees; see ``structure.encode``.
        pickles: Whether objects of unknown types are pickled, for a peer that reads that.

    Raises:
        DataServiceError: The value holds something that cannot be sent, or is too large.
    """
    description, buffers = structure.encode(value, share, pickles=pickles)
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
    times_us = [min(int(one_s * 1e6), _MAX_MICROSECONDS) for one_s in (busy_s, put_wait_s)]
    header = HEADER.pack(MAGIC, VERSION, kind, number, *times_us, len(text), nbytes)
    return [memoryview(header + text), *buffers]


@dataclass(slots=True)  # not frozen: that costs more than to parse it
class Announced:
    """A message whose header has come."""

    kind: Kind
    """What it is."""

    number: int
    """The request that it belongs to; 0 where there is none."""

    busy_s: float
    """Time that the data worker spent on the batch, in seconds."""

    put_wait_s: float
    """Time that its batch before this one waited to be taken by this client, in seconds."""

    text_bytes: int
    """Bytes of the description."""

    payload_bytes: int
    """Raw bytes behind the description."""


@dataclass(frozen=True, slots=True)
class Described:
    """A description that has come and was checked."""

    structure: object
    """The nested description."""

    leaves: tuple[Leaf, ...]
    """The parts whose bytes follow, in order."""

    payload_bytes: int
    """What those add up to."""

    batch_bytes: int
    """The same, with what lies in shared memory."""


def read_header(header: memoryview) -> Announced:
    """Return the checked content of a header.

    Raises:
        ProtocolError: It is no header of this version, or announces too much.
    """
    magic, version, kind, number, busy_us, wait_us, json_bytes, payload_bytes = HEADER.unpack(
        header
    )
    if magic != MAGIC or version != VERSION:
        raise ProtocolError(
            f"A message begins with {magic!r}, version {version}, but must begin with "
            f"{MAGIC!r}, version {VERSION}. {SAME_VERSION}"
        )
    if kind not in _KINDS:
        raise ProtocolError(f"A message is of kind {kind}, which is not known. {SAME_VERSION}")
    if json_bytes > MAX_JSON_BYTES or payload_bytes > MAX_FRAME_BYTES:
        raise ProtocolError(
            f"A message announces {json_bytes} and {payload_bytes} bytes, but at most "
            f"{MAX_JSON_BYTES} and {MAX_FRAME_BYTES} are received. Make smaller batches."
        )
    return Announced(
        _KINDS[kind], number, busy_us / 1e6, wait_us / 1e6, json_bytes, payload_bytes
    )


def read_description(text: bytes) -> Described:
    """Return the checked content of a description.

    Raises:
        ProtocolError: It is not one of ours.
    """
    return _described_before(text) if len(text) <= _MAX_REMEMBERED_BYTES else _described(text)


def _described(text: bytes) -> Described:
    description = _parse_json(text)
    leaves = tuple(structure.parse(description))
    payload_bytes = sum(leaf.nbytes for leaf in leaves)
    shared_bytes = sum(leaf.shared[1] for leaf in leaves if leaf.shared is not None)
    return Described(description, leaves, payload_bytes, payload_bytes + shared_bytes)


# The batches of one loader mostly have the same description.
_described_before = lru_cache(maxsize=256)(_described)


def _parse_json(text: bytes) -> object:
    try:
        description: object = json.loads(text.decode("utf-8", "surrogatepass"))
    except (ValueError, RecursionError) as error:
        raise ProtocolError(
            f"A message's description is not JSON ({str(error)[:80]}). The peer is not a data "
            "server of this version."
        ) from error
    return description
