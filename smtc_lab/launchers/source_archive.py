"""What other machines need to run a script: its folder and this package, in one archive."""

from __future__ import annotations

import gzip
import io
import os
import tarfile
from pathlib import Path
from typing import TYPE_CHECKING

from smtc_lab import version
from smtc_lab.spec.base import text_problem

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

MAX_SOURCE_BYTES = 64 * 2**20
"""Most bytes of a script's folder."""

MAX_SOURCE_FILES = 2000
"""Most files of a script's folder."""

CODE = "code"
"""Folder of the archive that holds the script's folder."""

_LEFT_OUT = {"__pycache__", "node_modules"}
_SHIPPED_SUFFIXES = {".py", ".csv"}
_MARKS_OF_OTHERS = ({"pyvenv.cfg"}, {"job.json", "plan.json"})
"""Files by which virtual environments and run folders are known; neither is source."""


def source_problems(entry_point: str) -> list[str]:
    """Return why an entry point's folder cannot be sent to other machines; empty: it can."""
    folder = Path(entry_point).resolve().parent
    return folder_problems(
        folder,
        what=f"The folder of the entry point, {str(folder)!r},",
        max_files=MAX_SOURCE_FILES,
        max_bytes=MAX_SOURCE_BYTES,
        remedy="Put the script into a folder of its own, and data into a channel.",
    )


def folder_problems(
    folder: Path, *, what: str, max_files: int, max_bytes: int, remedy: str
) -> list[str]:
    """Return the first reason why the files of a folder cannot be sent; looks no further.

    Args:
        folder: The folder.
        what: What a message calls it.
        max_files: Most files.
        max_bytes: Most bytes of all files together.
        remedy: What to do.
    """
    total_bytes = 0
    for number, path in enumerate(files_below(folder), start=1):
        if problem := text_problem(str(path)):
            return [f"{what} holds {str(path)!r}, whose name {problem}. Rename it."]
        if not os.access(path, os.R_OK):
            return [f"{what} holds {str(path)!r}, which cannot be read. Let it, or remove it."]
        total_bytes += path.stat().st_size
        if number > max_files:
            return [f"{what} holds more than {max_files} files. {remedy}"]
        if total_bytes > max_bytes:
            return [f"{what} holds more than {max_bytes / 2**20:g} MiB. {remedy}"]
    return []


def files_below(folder: Path) -> Iterator[Path]:
    """Yield the files of a folder that belong to its owner's work, in a fixed order.

    Left out are hidden files and folders (credentials lie there), caches, virtual environments
    and run folders. A link to a file counts as that file; a link to a folder is not followed.
    """
    for where, folders, names in os.walk(folder):
        if Path(where) != folder and any(marks <= set(names) for marks in _MARKS_OF_OTHERS):
            folders.clear()
            continue
        folders[:] = sorted(name for name in folders if _is_wanted(name))
        for name in sorted(names):
            path = Path(where, name)
            if _is_wanted(name) and path.is_file():
                yield path


def pack_source(entry_point: str) -> bytes:
    """Return a tar.gz with ``smtc_lab/`` and ``code/``; equal sources give equal bytes."""
    folder = Path(entry_point).resolve().parent
    package = Path(version.__file__).parent
    own = (path for path in files_below(package) if path.suffix in _SHIPPED_SUFFIXES)
    packed = io.BytesIO()
    with (
        gzip.GzipFile(fileobj=packed, mode="wb", mtime=0, compresslevel=6) as zipped,
        tarfile.open(fileobj=zipped, mode="w", format=tarfile.PAX_FORMAT) as archive,
    ):
        _add(archive, own, below=package, into=package.name)
        _add(archive, files_below(folder), below=folder, into=CODE)
    return packed.getvalue()


def _add(archive: tarfile.TarFile, paths: Iterable[Path], *, below: Path, into: str) -> None:
    for path in paths:
        content = path.read_bytes()
        member = tarfile.TarInfo(f"{into}/{path.relative_to(below).as_posix()}")
        member.size = len(content)
        member.mode = 0o755 if os.access(path, os.X_OK) else 0o644
        archive.addfile(member, io.BytesIO(content))


def _is_wanted(name: str) -> bool:
    return not name.startswith(".") and name not in _LEFT_OUT and not name.endswith(".pyc")
