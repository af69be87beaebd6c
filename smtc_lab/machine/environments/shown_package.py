"""This package, as interpreters of other environments find it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

_PACKAGE = Path(__file__).parents[2]


def show_package(folder: Path) -> None:
    """Make a folder in which there is this package and nothing else, for ``PYTHONPATH``.

    A link, so that it costs nothing, and leads to this very version.

    Raises:
        OSError: It cannot be made.
    """
    folder.mkdir(mode=0o700, exist_ok=True)
    link = folder / _PACKAGE.name
    if not link.is_symlink():
        link.symlink_to(_PACKAGE, target_is_directory=True)


def python_path(folder: Path | str, variables: Mapping[str, str] = os.environ) -> str:
    """Return ``PYTHONPATH`` with a folder before what is there."""
    return os.pathsep.join(filter(None, [str(folder), variables.get("PYTHONPATH")]))
