"""What was measured, as a text for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def text_table(titles: Sequence[str], rows: Sequence[Sequence[str]], *, names: int) -> str:
    """Return a table with columns as wide as they must be.

    Args:
        titles: Titles of the columns.
        rows: A cell for each column.
        names: How many columns, from the first, are names; the others are numbers, which end
            below each other.
    """
    lines = [titles, *rows]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(
            f"{cell:<{width}}" if place < names else f"{cell:>{width}}"
            for place, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )
