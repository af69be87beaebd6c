"""Reads files of a folder that somebody handed on: nothing but plain files that lie in it.

A run's folder is copied, unpacked and shared, so whoever filled it may mean harm. No link is
followed, whether it leads out or not; a pipe or a device is not opened; a hard link to a file
of another user is none of the folder's; and nothing is read without a bound on its size.
"""

from __future__ import annotations

import contextlib
import functools
import os
import re
import stat
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from smtc_lab.errors import UnsafeFileError

if TYPE_CHECKING:
    from collections.abc import Sequence

MIB = 2**20
"""Bytes of a MiB, for the bounds that readers give."""

_MOST_NAMES = 10_000
_PIECE = 4096
_PLAIN = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]*(/[A-Za-z0-9_-][A-Za-z0-9._-]*)*")
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
# a pipe that nobody writes to would wait, and a terminal would become ours
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_KINDS = {
    stat.S_IFLNK: "a link",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFDIR: "a folder",
}


def open_beneath(folder: Path, path: Path | str) -> BinaryIO:
    """Open a file of a folder for reading.

    Args:
        folder: The folder; it may be reached by links, which its user has made.
        path: The file, below the folder, or from it.

    Raises:
        UnsafeFileError: It is no plain file, or a link leads to it.
        OSError: It is not there, or may not be read.
    """
    return os.fdopen(_opened_file(folder, _parts(folder, path))[0], "rb")


def read_beneath(folder: Path, path: Path | str, *, most_bytes: int = MIB) -> bytes:
    """Return the content of a file of a folder.

    Args:
        folder: The folder.
        path: The file, below the folder, or from it.
        most_bytes: A longer file is refused.

    Raises:
        UnsafeFileError: It is no plain file, a link leads to it, or it is too long.
        OSError: It is not there, or may not be read.
    """
    parts = _parts(folder, path)
    file, size = _opened_file(folder, parts)
    try:
        # without a buffer in between: a list of runs reads thousands of small files
        data = os.read(file, min(size, most_bytes) + 1)
        while size < len(data) <= most_bytes and (more := os.read(file, _PIECE)):
            data += more  # it has grown meanwhile
        if len(data) <= most_bytes:
            return data
        size = os.fstat(file).st_size
    finally:
        os.close(file)
    raise UnsafeFileError(
        f"{_shown(parts)} of the folder {str(folder)[-200:]!r} has {size:,} bytes, but at most "
        f"{most_bytes:,} of such a file are read. Put back the file that was written there."
    )


def check_beneath(folder: Path, path: Path | str, *, beside: Sequence[str] = ()) -> str:
    """Check a file that something else opens by its name, and return that name without links.

    Args:
        folder: The folder.
        path: The file, below the folder, or from it.
        beside: What is added to its name for files that are opened with it, where they are.

    Raises:
        UnsafeFileError: One of them is no plain file, or a link leads to it.
        OSError: It is not there.
    """
    parts = _parts(folder, path)
    *above, name = parts
    with _opened_folder(folder, parts[:-1]) as below:
        _check(os.stat(name, dir_fd=below, follow_symlinks=False), folder, parts)
        for end in beside:
            with contextlib.suppress(FileNotFoundError):
                found = os.stat(name + end, dir_fd=below, follow_symlinks=False)
                _check(found, folder, (*above, name + end))
    place = folder.stat()
    return os.path.join(_real(os.fspath(folder), place.st_dev, place.st_ino), *parts)  # noqa: PTH118


@functools.lru_cache(maxsize=4096)
def _real(folder: str, _device: int, _inode: int) -> str:
    """Return the name of a folder without links, found out once for each that it leads to."""
    return os.path.realpath(folder)


def names_beneath(folder: Path, path: Path | str, pattern: re.Pattern[str]) -> list[str]:
    """Return the names in a folder below another one that fit a pattern whole, sorted.

    At most 10,000 are returned; none where it is not there, is no folder, or may not be read.
    """
    found = []
    with (
        contextlib.suppress(OSError),
        _opened_folder(folder, _parts(folder, path)) as below,
        os.scandir(below) as entries,
    ):
        for entry in entries:
            if pattern.fullmatch(entry.name):
                found.append(entry.name)
                if len(found) == _MOST_NAMES:
                    break
    return sorted(found)


def _opened_file(folder: Path, parts: tuple[str, ...]) -> tuple[int, int]:
    """Open a file of a folder, and return its descriptor and its size in bytes."""
    with _opened_folder(folder, parts[:-1]) as above:
        # looked at before it is opened: opening alone can set off a device
        _check(os.stat(parts[-1], dir_fd=above, follow_symlinks=False), folder, parts)
        try:
            file = os.open(parts[-1], _FILE, dir_fd=above)
        except OSError as error:
            error.filename = os.path.join(*parts)  # noqa: PTH118  parts of no known place
            raise
    try:
        found = os.fstat(file)
        _check(found, folder, parts)
    except UnsafeFileError:
        os.close(file)
        raise
    return file, found.st_size


class _opened_folder(contextlib.AbstractContextManager[int]):  # noqa: N801  used as a function
    """Opens a folder below another one, link by no link, and closes it in the end."""

    def __init__(self, folder: Path, parts: tuple[str, ...]) -> None:
        self._at = os.open(folder, _FOLDER)
        try:
            for place, part in enumerate(parts, start=1):
                found = os.stat(part, dir_fd=self._at, follow_symlinks=False)
                _check_folder(found, folder, parts[:place])
                below = os.open(part, _FOLDER | os.O_NOFOLLOW, dir_fd=self._at)
                os.close(self._at)
                self._at = below
        except BaseException:
            os.close(self._at)
            raise

    def __enter__(self) -> int:
        return self._at

    def __exit__(self, *_: object) -> None:
        os.close(self._at)


def _parts(folder: Path, path: Path | str) -> tuple[str, ...]:
    plain, above = os.fspath(path), os.fspath(folder)
    if above.startswith("/"):
        plain = plain.removeprefix(f"{above}/")
    if _PLAIN.fullmatch(plain):  # as nearly all are, and much quicker
        return tuple(plain.split("/"))
    try:
        parts = (Path(folder) / path).relative_to(folder).parts
    except ValueError:
        parts = ()
    if not parts or ".." in parts or any("\0" in part for part in parts):
        raise _refusal(folder, (str(path),), "not in it")
    return parts


def _check_folder(found: os.stat_result, folder: Path, parts: tuple[str, ...]) -> None:
    if not stat.S_ISDIR(found.st_mode):
        raise _refusal(folder, parts, _kind(found))


def _check(found: os.stat_result, folder: Path, parts: tuple[str, ...]) -> None:
    if not stat.S_ISREG(found.st_mode):
        raise _refusal(folder, parts, _kind(found))
    if found.st_nlink > 1 and found.st_uid != os.geteuid():
        raise _refusal(folder, parts, "another name of a file of another user")


def _kind(found: os.stat_result) -> str:
    return _KINDS.get(stat.S_IFMT(found.st_mode), "no plain file")


def _refusal(folder: Path, parts: tuple[str, ...], what: str) -> UnsafeFileError:
    return UnsafeFileError(
        f"{_shown(parts)} of the folder {str(folder)[-200:]!r} is {what}, and only plain files "
        "of that folder are read. Put the file itself in its place."
    )


def _shown(parts: tuple[str, ...]) -> str:
    return repr("/".join(parts)[-200:])
