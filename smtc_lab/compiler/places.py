"""Lines of a script, as a reader on another machine knows them."""

from __future__ import annotations

import linecache
import sys
import sysconfig
from pathlib import Path
from typing import TYPE_CHECKING

from smtc_lab.metrics.records.compiler_report import Place

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_PACKAGE = str(Path(__file__).parents[1])
_OWN = tuple(
    f"{_PACKAGE}/{part}/" for part in ("compiler", "runtime", "dataservice", "parallel")
)
_STDLIB = sysconfig.get_path("stdlib") + "/"
_CODE_CHARACTERS = 160


def place(file: str, line: int | None) -> Place | None:
    """Return a line without the folders of this machine; None: there is no such line.

    Args:
        file: Path of a source file.
        line: Line number, from 1; None: not known.
    """
    if line is None or file.startswith("<"):
        return None
    code = linecache.getline(file, line).strip()
    return Place(file=_short(file), line=line, code=code[:_CODE_CHARACTERS])


def script_place(lines: Sequence[tuple[str, int | None]]) -> Place | None:
    """Return the line of the script that led to something; a library's, if none did.

    Args:
        lines: The stack: file and line of each frame, outermost first.
    """
    known = [(file, line) for file, line in lines if not file.startswith("<")]
    for is_meant in (is_script, _is_no_torch, lambda _: True):
        for file, line in reversed(known):
            if is_meant(file):
                return place(file, line)
    return None


def is_script(file: str) -> bool:
    """Whether a source file belongs to the user, and to no library."""
    return not (
        "site-packages/" in file
        or "dist-packages/" in file
        or file.startswith((_STDLIB, *_OWN, "<"))
    )


def is_own(file: str) -> bool:
    """Whether a source file is one of ours that stands between torch and the script."""
    return file.startswith(_OWN)


def _is_no_torch(file: str) -> bool:
    if file.startswith((_STDLIB, *_OWN)):
        return False
    return not _short(file).startswith(("torch/", "torch_xla/"))


def _short(file: str) -> str:
    """Return ``package/module.py`` for a file of a library, else the name alone."""
    for folder in _library_folders(sys.path):
        if file.startswith(folder):
            return file.removeprefix(folder)
    return Path(file).name


def _library_folders(paths: Iterable[str]) -> list[str]:
    return [f"{path}/" for path in paths if path.endswith(("site-packages", "dist-packages"))]
