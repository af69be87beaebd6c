"""The last thing that an instance said, for the reason of a run's end."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def last_words(failure: Path, log: Path) -> str:
    """Return what an entry point said of its failure, or the end of its log; else nothing.

    Args:
        failure: ``output/failure`` of its instance.
        log: What it printed.
    """
    try:
        return f"{failure.read_text(encoding='utf-8', errors='replace').strip()}."
    except OSError:
        line = last_line(log)
        return f"The last line of its log: {line}" if line else ""


def last_line(log: Path) -> str:
    """Return the last line of a log that says something, at most 500 characters."""
    try:
        with log.open("rb") as file:
            file.seek(0, os.SEEK_END)
            file.seek(max(0, file.tell() - 8192))
            lines = file.read().decode("utf-8", errors="replace").splitlines()
    except OSError:
        return ""
    said = [line.strip() for line in lines if line.strip()]
    return said[-1][:500] if said else ""
