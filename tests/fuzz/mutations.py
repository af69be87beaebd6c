"""Makes hostile files of good ones: JSON with values that attack, and bytes that are torn."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import random

_DEEP = 200_000

NASTY_VALUES: tuple[Any, ...] = (
    None,
    True,
    False,
    0,
    -1,
    1,
    2**31,
    -(2**31),
    2**53,
    2**63,
    -(2**63) - 1,
    10**400,
    0.5,
    -0.0,
    1e308,
    -1e308,
    5e-324,
    float("nan"),
    float("inf"),
    float("-inf"),
    "",
    " ",
    "\0",
    "\ud800",
    "\u202e3.1\u00d7",
    "\x1b]0;title\x07\x1b[2J",
    "x" * 100_000,
    "../../../../etc/passwd",
    "/dev/zero",
    "a/b",
    "Completed",
    "InProgress",
    "2026-11-21T10:00:00+00:00",
    "{0.__class__}%s",
    [],
    {},
    [[]],
    [None],
    [1.0, "x"],
    {"": None},
    {"__class__": 1, "\u202e": "\u202e"},
    [{}] * 100,
    list(range(1_000)),
    {str(number): number for number in range(1_000)},
)
"""What stands in the place of a value; some is no JSON, and Python writes it all the same."""

NASTY_TEXTS: tuple[bytes, ...] = (
    b"",
    b"\0" * 4_096,
    b"\xff\xfe",
    b"\xef\xbb\xbf{}",
    b"{",
    b"[]",
    b"null",
    b'""',
    b"1e999",
    b"-" * 10_000,
    b"[" * _DEEP,
    b'{"a":' * _DEEP,
    b"[" * 900 + b"]" * 900,
    b'{"reason": "' + b"x" * 2_000_000 + b'"}',
    b'{"a": ' + b"9" * 5_000 + b"}",
    b'{"schema_version": 99}',
)
"""Whole files."""


def mutated_json(good: bytes, chance: random.Random) -> bytes:
    """Return a JSON text with one to three of its values, names or places changed."""
    value = json.loads(good)
    for _ in range(chance.choice((1, 1, 1, 2, 3))):
        value = _changed(value, chance)
    try:
        return json.dumps(value).encode()
    except (ValueError, RecursionError):
        return good


def mutated_bytes(good: bytes, chance: random.Random) -> bytes:
    """Return bytes with parts of them changed, cut out, doubled or moved."""
    data = bytearray(good)
    for _ in range(chance.choice((1, 1, 2, 4, 16))):
        place = chance.randrange(len(data) + 1)
        length = min(chance.choice((1, 1, 2, 4, 64, 1024)), len(data) - place)
        part = data[place : place + length]
        what = chance.randrange(6)
        if what == 0:
            part[:] = chance.randbytes(length)
        elif what == 1:
            part[:] = bytes([chance.choice((0, 1, 0x7F, 0x80, 0xFF))]) * length
        elif what == 2 and length:
            part[0] ^= 1 << chance.randrange(8)
        elif what == 3:
            part[:] = b""
        elif what == 4:
            part[:] = part * 2
        else:
            other = chance.randrange(len(data) + 1)
            part[:] = data[other : other + length]
        data[place : place + length] = part
    return bytes(data)


def _changed(value: Any, chance: random.Random) -> Any:
    """Return a value with one place in it changed."""
    if not isinstance(value, dict | list) or not value or chance.random() < 0.1:
        return chance.choice(NASTY_VALUES)
    places = list(value) if isinstance(value, dict) else list(range(len(value)))
    place = chance.choice(places)
    copy: Any = dict(value) if isinstance(value, dict) else list(value)
    what = chance.randrange(10)
    if what == 0:
        del copy[place]
    elif what == 1 and isinstance(copy, dict):
        copy[str(chance.choice(NASTY_VALUES))[:1_000]] = chance.choice(NASTY_VALUES)
    elif what == 1:
        copy = copy * chance.choice((2, 50))
    else:
        copy[place] = _changed(copy[place], chance)
    return copy
