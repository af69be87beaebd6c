"""This package, as interpreters of other environments find it."""

from __future__ import annotations

from pathlib import Path

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
