"""The file that a cell becomes, so that processes of their own can run it."""

from __future__ import annotations

import hashlib
import warnings
from typing import TYPE_CHECKING

from smtc_lab.errors import SpecError
from smtc_lab.store.run_folder import runs_root
from smtc_lab.store.state import replace_file

if TYPE_CHECKING:
    from pathlib import Path

_FIRST_LINE = "# a cell of a notebook\n"
"""Stands where the cell has its ``%%smtc`` line, so that line numbers are those of the cell."""


def saved_cell(cell: str) -> Path:
    """Check a cell, save it under the folder of runs, and return its file.

    The same cell has the same file, which only its owner can read.

    Raises:
        SpecError: The cell is empty, or is not Python. The message holds nothing of its text,
            which may hold a secret.
    """
    if not cell.strip():
        raise SpecError("the cell is empty. Write the training script below the line.")
    source = _FIRST_LINE + cell
    _check(source)
    folder = runs_root() / "cells"
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    path = folder / f"cell_{hashlib.sha256(cell.encode()).hexdigest()[:12]}.py"
    if not path.is_file():  # never written twice: a process may be reading it
        replace_file(path, source)
    return path


def _check(source: str) -> None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a warning is for the run's log
            compile(source, "cell", "exec", dont_inherit=True)
    except (SyntaxError, ValueError) as error:
        line = getattr(error, "lineno", None)
        if line is not None:
            raise SpecError(
                f"line {line} of the cell is not Python: {error.args[0]}.{_hint(source, line)}"
            ) from None
        # a null byte, or half of a character
        raise SpecError(
            "the cell holds a character that no Python file may hold. Write the line with it "
            "anew."
        ) from None


def _hint(source: str, line: int) -> str:
    lines = source.splitlines()
    text = lines[line - 1].lstrip() if line <= len(lines) else ""
    if text.startswith(("!", "%")):
        return (
            " The cell runs as a script of its own, in which lines that begin with '!' or '%' "
            "mean nothing. Put them into another cell."
        )
    return " Correct that line."
