"""Tells whether a file may have changed, without opening it."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

_SETTLED_NS = 20_000_000
"""A file that was written so shortly before a look may be written again with the same time: a
kernel's clock of files ticks every 10 ms at the slowest."""


class Changes:
    """Looks at files, and at their write-ahead logs."""

    def __init__(self) -> None:
        self._seen: dict[Path, tuple[tuple[int, ...], ...]] = {}

    def in_file(self, path: Path) -> bool:
        """Return whether a file may have changed since the last call, or is new."""
        look = (_look(os.fspath(path)), _look(f"{path}-wal"))
        if look == ((), ()):
            return False
        newest_ns = max(each[0] for each in look if each)
        changed = self._seen.get(path) != look
        if changed and time.time_ns() - newest_ns > _SETTLED_NS:
            self._seen[path] = look
        return changed

    def in_any(self, paths: Iterable[Path]) -> bool:
        """Return whether one of some files that are read together may have changed.

        Each is asked, so that many that changed are no reason for many looks.
        """
        return any([self.in_file(path) for path in paths])  # noqa: C419  see above


def _look(path: str) -> tuple[int, ...]:
    try:
        found = os.stat(path)  # noqa: PTH116  looked at 30 times a second
    except OSError:
        return ()
    return found.st_mtime_ns, found.st_size
