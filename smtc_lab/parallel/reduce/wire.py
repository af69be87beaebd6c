"""What trainers and reducers send each other, and how gradients are summed; no pickle."""

from __future__ import annotations

import struct
from enum import IntEnum
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

MOST_BYTES = 2**20
"""Longest chunk that anybody takes."""

MOST_RANKS = 4096
"""Most trainers of a job."""

DTYPES = ("float32", "float64", "float16", "bfloat16")
"""Types of gradients, numbered as on the wire."""


class ReduceMessage(IntEnum):
    """What a message is."""

    CHUNK = 1
    """Gradients to sum, or their sum."""

    PING = 2
    """Are you there?"""

    PONG = 3
    """Yes."""


class Header(NamedTuple):
    """What stands before a message."""

    kind: int
    """As ``ReduceMessage``."""

    dtype: int
    """Place in ``DTYPES``."""

    bucket: int
    """Number of the bucket since the trainers joined."""

    chunk: int
    """Number of the chunk in it."""

    size: int
    """Bytes that follow."""

    done: int
    """Buckets below this number are complete: at the sender, and in an answer everywhere."""


_HEADER = struct.Struct("!BBIIIQ")
HEADER_BYTES = _HEADER.size


def packed(header: Header) -> bytes:
    """Return a header as bytes."""
    return _HEADER.pack(*header)


def unpacked(data: bytes | bytearray) -> Header:
    """Return the header that bytes hold.

    Raises:
        ValueError: They hold none.
    """
    header = Header(*_HEADER.unpack(data))
    is_legal = (
        header.kind in set(ReduceMessage)
        and header.dtype < len(DTYPES)
        and header.size <= MOST_BYTES
    )
    if not is_legal:
        raise ValueError(
            f"A peer sent the header {header}, which is none. Install the same version of "
            "smtc_lab on all instances."
        )
    return header


def summed(parts: Sequence[bytearray], dtype: int) -> memoryview:
    """Return the sum of chunks, in the order given; half precision is summed in float32.

    Raises:
        ValueError: Their sizes differ.
    """
    total = _wide(parts[0], dtype).copy()
    for part in parts[1:]:
        total += _wide(part, dtype)
    return memoryview(_narrow(total, dtype).tobytes())


def _wide(part: bytearray, dtype: int) -> NDArray[Any]:
    if DTYPES[dtype] == "bfloat16":
        return (np.frombuffer(part, np.uint16).astype(np.uint32) << 16).view(np.float32)
    values = np.frombuffer(part, DTYPES[dtype])
    return values.astype(np.float32) if DTYPES[dtype] == "float16" else values


def _narrow(total: NDArray[Any], dtype: int) -> NDArray[Any]:
    if DTYPES[dtype] == "bfloat16":
        bits = total.view(np.uint32)
        rounded = bits + 0x7FFF + ((bits >> 16) & 1)  # to the nearest, ties to even
        return np.where(np.isnan(total), 0x7FC0, rounded >> 16).astype(np.uint16)
    return total.astype(DTYPES[dtype], copy=False)
