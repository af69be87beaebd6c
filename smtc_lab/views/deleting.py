"""Deletes runs and comparisons for good, in the same words in a shell and in a notebook."""

from __future__ import annotations

from typing import TYPE_CHECKING

from smtc_lab.study.trash import delete_run, delete_study, empty_trash, run_folder
from smtc_lab.views.kinds import is_study

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


def question(names: Sequence[str], root: Path | None = None) -> str:
    """Return what is asked before runs and comparisons are deleted.

    Raises:
        StoreError: There is none of a name.
    """
    return f"Delete {_what(names, root)} for good?"


def nobody_to_ask(names: Sequence[str], root: Path | None = None) -> str:
    """Return what is said where nobody can answer that.

    Raises:
        StoreError: There is none of a name.
    """
    return f"Nobody can be asked whether to delete {_what(names, root)}. Add --yes."


def delete_for_good(name: str, root: Path | None = None) -> str:
    """Delete a run, or a comparison with its launches, and return what was done.

    Args:
        name: Its whole name.
        root: Folder of runs; None: the default one.

    Raises:
        StoreError: There is none of that name, or it cannot be deleted.
        LauncherError: It goes on, or is a launch of a comparison.
    """
    deleted = (delete_study if is_study(name, root=root) else delete_run)(name, root)
    empty_trash(root, only=deleted.id)
    launches = len(deleted.launches)
    also = f" with {launches} launch{'es' * (launches > 1)}" if launches else ""
    return f"{name}: deleted{also}."


def _what(names: Sequence[str], root: Path | None) -> str:
    studies = [name for name in names if is_study(name, root=root)]
    for name in names:
        if name not in studies:
            run_folder(name, root)
    return ", ".join(names) + " with all launches" * bool(studies)
