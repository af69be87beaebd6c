"""Texts with nothing in them that a terminal, a browser or a reader would obey.

Names, values, logs and errors are anybody's. An escape character paints a terminal, and a
character of direction makes "3.1x" of "x1.3". Whatever leaves for a screen or a file goes
through ``neutral``: errors by themselves, what is stored as it is read, what a page is told as
JSON, what is printed, and what a notebook keeps.
"""

from __future__ import annotations

import re
from typing import Any

MOST_DEPTH = 100
"""Levels of nesting of a JSON value that are taken."""

INTEGERS = range(-(2**63), 2**63)
"""Whole numbers of a JSON value that are taken."""

# What a terminal obeys, and what turns the order of a line round: "3.1x" into "x1.3"
_OBEYED = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069"
    "\ud800-\udfff\ufff9-\ufffb]"
)


def neutral(text: str, *, longest: int | None = None) -> str:
    """Return a text with U+FFFD for each character that a terminal or a reader would obey.

    Tabs and line feeds stay.

    Args:
        text: Anything.
        longest: Characters that are kept, at least 1; None: all.
    """
    if longest is not None and len(text) > longest:
        text = f"{text[: longest - 1]}…"
    return _OBEYED.sub("\ufffd", text)


def neutral_json(value: Any, *, depth: int = MOST_DEPTH) -> Any:  # noqa: ANN401  any JSON value
    """Return a JSON value with all its texts neutral.

    Raises:
        ValueError: It is nested more than 100 levels deep, or holds a whole number that is
            longer than 64 bits.
    """
    if isinstance(value, str):
        return neutral(value)
    if isinstance(value, int) and value not in INTEGERS:
        raise ValueError("it holds a whole number of more than 64 bits")
    if not isinstance(value, dict | list | tuple):
        return value
    if depth == 0:
        raise ValueError(f"it is nested more than {MOST_DEPTH} levels deep")
    if not isinstance(value, dict):
        return [neutral_json(each, depth=depth - 1) for each in value]
    return {
        neutral(name) if isinstance(name, str) else name: neutral_json(each, depth=depth - 1)
        for name, each in value.items()
    }
