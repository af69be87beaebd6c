"""Rows of text as columns of a terminal."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def columns(text: str) -> int:
    """Return how many terminal columns the text takes: East Asian wide characters take two."""
    if text.isascii():
        return len(text)
    return sum(
        0
        if unicodedata.combining(char)
        else 2
        if unicodedata.east_asian_width(char) in "WF"
        else 1
        for char in text
    )


def aligned(
    rows: Sequence[Sequence[str]], *, gap: str = "  ", numbers_from: int | None = None
) -> list[str]:
    """Return a line for each row, with the cells of a column below each other.

    Args:
        rows: The rows, all of one length.
        gap: What stands between two columns.
        numbers_from: The column from which on cells end at one line; None: all begin at one.
    """
    widths = [max(map(columns, column)) for column in zip(*rows, strict=True)]
    first = len(widths) if numbers_from is None else numbers_from
    return [
        gap.join(
            cell + padding if place < first else padding + cell
            for place, cell, padding in (
                (place, cell, " " * (width - columns(cell)))
                for place, (cell, width) in enumerate(zip(row, widths, strict=True))
            )
        ).rstrip()
        for row in rows
    ]
