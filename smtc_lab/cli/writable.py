"""Whether the files that a command is told to write can be written."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def unwritable(*targets: Path | None) -> list[str]:
    """Return why files cannot be written, before minutes of runs are spent on them."""
    return [
        f"{str(target)!r} cannot be written: {why}. Give another path."
        for target in targets
        if target is not None and (why := _cannot_be_written(target))
    ]


def _cannot_be_written(target: Path) -> str | None:
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        is_new = not target.exists()
        target.open("ab").close()
        if is_new:
            target.unlink()
    except OSError as error:
        return error.strerror
    return None
