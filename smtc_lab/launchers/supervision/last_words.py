"""The last thing that an instance said, for the reason of a run's end."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from smtc_lab.store.run_folder import RunFolder


def last_words(folder: RunFolder, host: str, rank: int | None) -> str:
    """Return what an entry point said of its failure, or the end of its log; else nothing.

    Args:
        folder: The run's folder.
        host: Its instance.
        rank: Which of several trainers it is; None: the instance has no other process.
    """
    try:
        said = folder.failure_file(host).read_text(encoding="utf-8", errors="replace")
        return f"{said.strip()}."
    except OSError:
        line = last_line(folder.log_file(host, rank))
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
