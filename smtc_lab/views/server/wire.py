"""Messages of the stream. ``extensions/lab`` reads them."""

from __future__ import annotations

import json
import math
import re
import struct
from typing import TYPE_CHECKING, Any

from smtc_lab.neutral_text import neutral_json

if TYPE_CHECKING:
    from collections.abc import Sequence

PROTOCOL = 1
"""Version of the API; another one means another extension in the browser."""

_ALIGNMENT = 8
# an escape of JSON that may be a character to obey
_SUSPECT = re.compile(r"\\[bfr]|\\u(?:00|061|20|d|f)|\x7f")


def json_text(value: object) -> str:
    """Return a value as JSON that a browser can show.

    What is no finite number is null, and each text is neutral.
    """
    text = exact_json_text(value)
    if _SUSPECT.search(text) is None:
        return text
    return json.dumps(neutral_json(json.loads(text)))


def exact_json_text(value: object) -> str:
    """Return a value as JSON with its texts as they are: for what a browser sends back."""
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
