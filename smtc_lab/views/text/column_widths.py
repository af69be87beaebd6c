"""How narrow the columns of a table may become before its words are broken."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_MOST_EM = 14.0
"""Longer words are broken wherever a table is too wide."""

_BETWEEN_EM = 1.0
"""The space between two columns."""

_BOLD = 1.1
_PIECES = re.compile(r"\s+|(?<=[-\u2013])")
"""Where a browser breaks lines."""


def column_widths(
    corner: str, columns: Sequence[str], rows: Sequence[Sequence[str]]
) -> list[str]:
    """Return the least width of each column in CSS: its longest word, or its share of the room.

    Whatever the font, the shares of all columns fill the table's container and no more.

    Args:
        corner: The name of the first column, whose cells end with a colon.
        columns: The names of the others, which are bold.
        rows: Their cells.
    """
    names = [f"{row[0]}:" for row in rows]
    least_em = [max(map(_longest_word_em, [corner, *names]))]
    for number, column in enumerate(columns, 1):
        cells = [str(row[number]) for row in rows if len(row) > number]
        least_em.append(max([_BOLD * _longest_word_em(column), *map(_longest_word_em, cells)]))
    least_em = [min(_MOST_EM, each) for each in least_em]
    in_all_em = sum(least_em) + _BETWEEN_EM * len(least_em)
    return [
        f"min({each:.4g}em, {100 * (each + _BETWEEN_EM) / in_all_em:.4g}cqw - {_BETWEEN_EM}em)"
        for each in least_em
    ]


def _longest_word_em(text: str) -> float:
    return max(sum(map(_letter_em, word)) for word in _PIECES.split(text))


def _letter_em(letter: str) -> float:
    """Return about how wide a letter is in a wide font, such as DejaVu Sans."""
    if letter in "ijlfrtI',./:;|!()[]-\u2013":
        return 0.42
    if letter in "mwMW%@■":
        return 1.0
    return 0.75 if letter.isupper() or not letter.isalnum() else 0.65
