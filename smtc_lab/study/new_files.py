"""The new files of launches that have a working folder of their own, which are kept."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING

from smtc_lab.machine.home import WORK
from smtc_lab.machine.linked_folder import listed
from smtc_lab.neutral_text import neutral
from smtc_lab.store.run_folder import JOB_NAME, RunFolder

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

_MOST_FILES = _MOST_FOLDERS = 10_000


def new_files_line(root: Path, names: Iterable[str]) -> str:
    """Return in a sentence where the new files of launches are; empty: there are none.

    Args:
        root: Folder of runs.
        names: Those of the launches.
    """
    folders = (RunFolder(root / name) for name in names if JOB_NAME.fullmatch(name))
    found = [new for folder in folders if (new := _new_files(folder.path / WORK))]
    if not found:
        return ""
    where, names = found[-1]
    named = listed(names)
    if len(found) == 1:
        return f"New files of a launch ({named}) are kept in {where}"
    return (
        f"New files of {len(found)} launches are kept in their run folders, those of the last "
        f"({named}) in {where}"
    )


def _new_files(work: Path) -> tuple[str, list[str]] | None:
    """Return the folder that holds all new files, and their names in it; None: no file is new.

    No link is followed: links lead to what is not new, and a folder from elsewhere is hostile.
    """
    try:
        is_there = stat.S_ISDIR(os.lstat(work).st_mode)
    except OSError:
        return None
    paths = list(islice(_files_below(str(work)), _MOST_FILES)) if is_there else []
    if not paths:
        return None
    where = os.path.commonpath([os.path.dirname(path) for path in paths])  # noqa: PTH120
    return neutral(where), [neutral(os.path.relpath(path, where)) for path in paths]


def _files_below(folder: str) -> Iterator[str]:
    folders = [folder]
    for _ in range(_MOST_FOLDERS):
        if not folders:
            return
        with suppress(OSError), os.scandir(folders.pop()) as entries:
            for entry in entries:
                if entry.is_file(follow_symlinks=False):
                    yield entry.path
                elif entry.is_dir(follow_symlinks=False) and entry.name != "__pycache__":
                    folders.append(entry.path)
