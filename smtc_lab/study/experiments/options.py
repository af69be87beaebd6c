"""The options of a command line by name, as tables and differences of runs show them."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

Option = str | int | float | bool


def options_of(arguments: Iterable[str]) -> tuple[dict[str, Option], list[str]]:
    """Return the options ``--lr 0.1``, ``--lr=0.1`` and ``--amp`` by name, and other words.

    Of an option that is given twice the last one counts.
    """
    options: dict[str, Option] = {}
    others = []
    words = [*arguments][::-1]
    while words:
        word = words.pop()
        name, equals, text = word.lstrip("-").partition("=")
        if not word.startswith("-") or not name or _number(word) is not None:
            others.append(word)
        elif equals:
            options[name] = _read(text)
        elif words and (not words[-1].startswith("-") or _number(words[-1]) is not None):
            options[name] = _read(words.pop())
        else:
            options[name] = True
    return options, others


def _read(text: str) -> Option:
    number = _number(text)
    return text if number is None else number


def _number(text: str) -> int | float | None:
    for kind in (int, float):
        with contextlib.suppress(ValueError):
            return kind(text)
    return None
