"""Sums of money in options: ``2usd``, ``$2``, ``2``."""

from __future__ import annotations

import re

from smtc_lab.errors import SpecError


def usd_of(text: str) -> float:
    """Return the dollars that a budget means.

    Raises:
        SpecError: It is no sum of money.
    """
    match = re.fullmatch(r"\$?([0-9]+(?:\.[0-9]+)?)\s*(?:usd|USD|\$)?", text.strip())
    if match is None:
        raise SpecError(f"--budget {text[:40]!r} is no sum of money. Write for example 2usd.")
    return float(match[1])
