"""Finds the scripts that a form offers."""

from __future__ import annotations

import ast
import os
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from smtc_lab.errors import StoreError
from smtc_lab.examples import ENTRY_POINTS, example
from smtc_lab.store.reader import read_job
from smtc_lab.store.run_folder import find_runs
from smtc_lab.views.scripts.info import OfferedScript, ScriptFolder, Scripts
from smtc_lab.views.text.format import plain

if TYPE_CHECKING:
    from collections.abc import Iterator

_MOST_RUNS = 100
_MOST_RECENT = 8
_MOST_LOOKED_AT = 5_000
_MOST_TOLD = 300
_EXAMPLE_BYTES = 100_000


def offered_scripts(folder: str, *, base: Path, root: Path | None = None) -> Scripts:
    """Return the scripts that a form offers, but for the cells of a notebook.

    Args:
        folder: The folder to look into; empty: ``base``. Relative to ``base``.
        base: The folder that the form begins with.
        root: Folder of runs; None: the default one.
    """
    return Scripts(
        recent=tuple(islice(_recent(root), _MOST_RECENT)),
        examples=tuple(_example(name) for name in ENTRY_POINTS),
        folder=look_into(base / folder),
    )


def look_into(path: Path) -> ScriptFolder:
    """Return the Python files and the folders in a folder, or why it cannot be read.

    Hidden ones are left out, as are names that are no text.
    """
    path = Path(os.path.normpath(path.absolute()))
    parent = None if path.parent == path else str(path.parent)
    found: dict[bool, list[str]] = {True: [], False: []}
    problem, is_cut = "", False
    try:
        with os.scandir(path) as entries:
            for entry in islice(entries, _MOST_LOOKED_AT):
                if (is_folder := _kind_of(entry)) is not None:
                    found[is_folder].append(entry.name)
            is_cut = next(entries, None) is not None
    except (OSError, ValueError) as error:  # a null byte is no OSError
        why = getattr(error, "strerror", None) or str(error)
        problem = f"{plain(str(path))!r} cannot be looked into: {why}. Choose another folder."
    folders, files = (sorted(found[which], key=str.casefold) for which in (True, False))
    return ScriptFolder(
        path=str(path),
        parent=parent,
        folders=tuple(folders[:_MOST_TOLD]),
        files=tuple(files[:_MOST_TOLD]),
        is_cut=is_cut or max(len(folders), len(files)) > _MOST_TOLD,
        problem=problem,
    )


def _kind_of(entry: os.DirEntry[str]) -> bool | None:
    """Return True for a folder, False for a Python file, None for what is not told."""
    if entry.name.startswith((".", "__")) or not entry.name.isprintable():
        return None
    try:
        if entry.is_dir():
            return True
        return False if entry.name.endswith(".py") and entry.is_file() else None
    except OSError:  # a link that leads nowhere
        return None


def _recent(root: Path | None) -> Iterator[OfferedScript]:
    """Return the scripts of the newest runs that are still there, each once."""
    seen = {example(name) for name in ENTRY_POINTS}
    try:
        newest = find_runs(root)[: -_MOST_RUNS - 1 : -1]
    except StoreError:
        return
    for folder in newest:
        try:
            path = read_job(folder).entry_point
        except StoreError:  # the list of runs tells of it
            continue
        if path not in seen and path.isprintable() and Path(path).is_absolute():
            seen.add(path)
            if Path(path).is_file():
                yield OfferedScript(
                    label=Path(path).name, path=path, about=str(Path(path).parent)
                )


def _example(name: str) -> OfferedScript:
    path = example(name)
    with Path(path).open(encoding="utf-8") as file:
        docstring = ast.get_docstring(ast.parse(file.read(_EXAMPLE_BYTES))) or ""
    about = docstring.partition("\n")[0]
    return OfferedScript(label=Path(path).name, path=path, about=about)
