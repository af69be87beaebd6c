"""Names that come from a browser, and the folders that they may mean."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from smtc_lab.errors import StoreError

if TYPE_CHECKING:
    from pathlib import Path

    from smtc_lab.views.kinds import Family

NAME = re.compile(r"(?=.{1,63}$)[A-Za-z0-9](-*[A-Za-z0-9])*")
"""What a run or a study can be called."""


class NoSuchNameError(StoreError):
    """A name that no run and no study has."""


def folder_of(family: Family, name: str, runs: Path) -> Path:
    """Return the folder of a name.

    Args:
        family: What it names.
        name: As a browser sent it.
        runs: Folder of runs.

    Raises:
        NoSuchNameError: It names nothing, or what lies elsewhere.
    """
    root = family.root(runs)
    path = root / name
    # resolve() refuses what no file can be called, so the name is looked at first
    is_inside = NAME.fullmatch(name) and path.resolve().is_relative_to(root.resolve())
    if not is_inside or not os.path.lexists(path / family.marker):
        raise NoSuchNameError(
            f"There is no {family.name} named {name[:80]!r} in {str(root)!r}. Load the page "
            "again to see what there is."
        )
    return path
