"""Names of launches that belong together."""

from __future__ import annotations

import re
import zlib
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime

_LONGEST_STEM = 16
_LONGEST_LABEL = 23


def launch_name(entry_point: str, label: str, number: str, *, stamp: datetime) -> str:
    """Return a job name that tells script, set-up and launch, at most 63 characters.

    Args:
        entry_point: Path of the script.
        label: What is launched.
        number: Which launch of it: ``r1``, ``b64``, …; at most 6 characters.
        stamp: When the launches that belong together were begun.
    """
    stem = _plain(Path(entry_point).stem)[:_LONGEST_STEM] or "job"
    parts = (stem, _short(_plain(label)) or "cluster", number, stamp_words(stamp))
    return "-".join(part.strip("-") for part in parts)


def stamp_words(stamp: datetime) -> str:
    """Return the end of the names of launches that belong together."""
    return f"{stamp:%m%d-%H%M%S}-{stamp.microsecond // 1000:03d}"


def _short(label: str) -> str:
    """Return a label that fits, different ones for labels that differ only at their end."""
    if len(label) <= _LONGEST_LABEL:
        return label
    return f"{label[: _LONGEST_LABEL - 5]}-{zlib.crc32(label.encode()) & 0xFFFF:04x}"


def _plain(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9]+", "-", text).strip("-")
