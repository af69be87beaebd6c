"""Names that come from a browser, and the folders that they may mean."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal

from smtc_lab.errors import StoreError

if TYPE_CHECKING:
    from pathlib import Path

Kind = Literal["run", "comparison"]
"""What has a name."""

NAME = re.compile(r"(?=.{1,63}$)[A-Za-z0-9](-*[A-Za-z0-9])*")
"""What a run or a comparison can be called."""

MARKERS: dict[Kind, str] = {"run": "job.json", "comparison": "request.json"}
"""The file that makes a folder one of them."""


class NoSuchNameError(StoreError):
    """A name that no run and no comparison has."""


def folder_of(kind: Kind, name: str, root: Path) -> Path:
    """Return the folder of a name.

    Args:
        kind: What it names.
        name: As a browser sent it.
        root: Folder of all of that kind.

    Raises:
        NoSuchNameError: It names nothing, or what lies elsewhere.
    """
    path = root / name
    # resolve() refuses what no file can be called, so the name is looked at first
    is_inside = NAME.fullmatch(name) and path.resolve().is_relative_to(root.resolve())
    if not is_inside or not (path / MARKERS[kind]).is_file():
        raise NoSuchNameError(
            f"There is no {kind} named {name[:80]!r} in {str(root)!r}. Load the page again to "
            "see what there is."
        )
    return path
