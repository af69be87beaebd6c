"""When something of which nobody has written down the end was last alive."""

from __future__ import annotations

import os
import stat
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

_OF_READERS = "-shm"
"""End of the name of a file that SQLite's readers write, too."""


def last_sign_s(folders: Iterable[Path], *, begin_s: float | None) -> float:
    """Return when a file in some folders was last written, in seconds since the epoch.

    Whoever looks hours later must not count these hours as paid ones.

    Args:
        folders: Looked at without the folders in them; those that are missing count for
            nothing.
        begin_s: When it began; no sign is older. None: it is not known.

    Returns:
        At most now; now where there is no sign at all.
    """
    now_s = time.time()
    signs_s = [each for folder in folders for each in _written_s(folder) if each <= now_s]
    if not signs_s:
        return now_s
    return max(signs_s) if begin_s is None else max(begin_s, *signs_s)


def _written_s(folder: Path) -> list[float]:
    found = []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                looked = entry.stat(follow_symlinks=False)
                is_written = looked.st_size and not entry.name.endswith(_OF_READERS)
                if is_written and stat.S_ISREG(looked.st_mode):
                    found.append(looked.st_mtime)
    except OSError:  # it is not there, or just changes
        pass
    return found
