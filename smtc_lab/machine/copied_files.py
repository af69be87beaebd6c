"""Copies of files in a folder made anew, so that a script may write over them."""

from __future__ import annotations

import os
import shutil
import stat
from contextlib import suppress
from pathlib import Path

MOST_COPIED_BYTES = 2**28
"""What all copies of a folder take, at most: 256 MiB."""

MOST_COPIED = 200


class CopiedFiles:
    """The copies of a folder, as many as fit, with the mode and times of what was copied."""

    def __init__(self) -> None:
        self._made: dict[str, tuple[int, ...]] = {}
        self._count, self._bytes = 0, 0

    def copy(self, source: str, path: str) -> bool:
        """Copy a file, or find that something is there in its place already.

        Returns:
            Whether it need not be linked: False for what is no file, cannot be read, does not
            fit, or is linked already.
        """
        try:
            look = os.stat(source)  # noqa: PTH116  hundreds of them
            if not stat.S_ISREG(look.st_mode) or not self._fits(look.st_size):
                return False
            with open(source, "rb") as file:  # noqa: PTH123  as above
                made = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
                self._made[path] = ()
                with open(made, "wb") as copied:  # noqa: PTH123  as above
                    shutil.copyfileobj(file, copied)
                    os.fchmod(made, stat.S_IMODE(look.st_mode))
            os.utime(path, ns=(look.st_atime_ns, look.st_mtime_ns))
        except FileExistsError:
            return self._found(path, look)
        except OSError:
            if path in self._made:
                del self._made[path]
                Path(path).unlink(missing_ok=True)
            return False
        self._made[path] = _identity(os.lstat(path))
        self._count, self._bytes = self._count + 1, self._bytes + look.st_size
        return True

    def remove_unchanged(self) -> None:
        """Take away the copies that are as they were made."""
        for path, identity in self._made.items():
            folder = os.path.dirname(path)  # noqa: PTH120  as above
            with suppress(OSError):
                if os.path.realpath(folder) == folder and _identity(os.lstat(path)) == identity:
                    os.unlink(path)  # noqa: PTH108  as above
        self._made, self._count, self._bytes = {}, 0, 0

    def _fits(self, size: int) -> bool:
        return self._count < MOST_COPIED and self._bytes + size <= MOST_COPIED_BYTES

    def _found(self, path: str, look: os.stat_result) -> bool:
        """Take what an attempt before has left for a copy, if it is as one is made."""
        found = os.lstat(path)
        if (found.st_size, found.st_mtime_ns) == (look.st_size, look.st_mtime_ns):
            self._made[path] = _identity(found)
        return not stat.S_ISLNK(found.st_mode)


def _identity(look: os.stat_result) -> tuple[int, ...]:
    return look.st_ino, look.st_size, look.st_mtime_ns, stat.S_IFMT(look.st_mode)
