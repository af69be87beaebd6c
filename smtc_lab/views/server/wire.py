"""Messages of the stream. ``extensions/lab`` reads them."""

from __future__ import annotations

import json
import math
import struct
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

PROTOCOL = 1
"""Version of the API; another one means another extension in the browser."""

_ALIGNMENT = 8


def json_text(value: object) -> str:
    """Return a value as JSON that a browser can read: what is no finite number is null."""
    try:
        return json.dumps(value, allow_nan=False)
    except ValueError:
        return json.dumps(_finite(value), allow_nan=False)


def binary_message(number: int, content: dict[str, Any], buffers: Sequence[bytes]) -> bytes:
    """Return one message about the tables of a watch.

    The length of the JSON header as a little-endian uint32, the header (``id``, ``content``,
    and ``lengths`` of the buffers), then the buffers. Each begins at a multiple of 8 bytes.

    Args:
        number: The watch.
        content: What the message says.
        buffers: The numbers that belong to it.
    """
    lengths = [len(buffer) for buffer in buffers]
    header = json_text({"id": number, "content": content, "lengths": lengths}).encode()
    parts = [_padded(struct.pack("<I", len(header)) + header), *map(_padded, buffers)]
    return b"".join(parts)


def _padded(data: bytes) -> bytes:
    return data + b"\0" * (-len(data) % _ALIGNMENT)


def _finite(value: object) -> object:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {name: _finite(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(each) for each in value]
    return value
