"""What is said of a study whose process had no last word."""

from __future__ import annotations

from typing import TYPE_CHECKING

from smtc_lab.launchers.supervision.last_words import last_line

if TYPE_CHECKING:
    from pathlib import Path


def loss(log_file: Path) -> str:
    """Return why a study failed.

    Args:
        log_file: What its process said.
    """
    said = last_line(log_file)
    return (
        "The process that made the launches is gone without a last word, so they ended too. "
        f"{f'The last line of its log: {said} ' if said else ''}The runs that had completed "
        "are kept. Start it again."
    )
