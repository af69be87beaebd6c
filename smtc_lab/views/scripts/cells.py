"""The cells of a notebook that can be run as scripts."""

from __future__ import annotations

import ast
import warnings
from itertools import islice
from typing import TYPE_CHECKING

from IPython.core.getipython import get_ipython

from smtc_lab.errors import SpecError
from smtc_lab.views.cell.entry_point import saved_cell
from smtc_lab.views.scripts.info import OfferedCell, SavedCell
from smtc_lab.views.text.format import count

if TYPE_CHECKING:
    from collections.abc import Iterator

_MOST_LOOKED_AT = 200
_MOST_CELLS = 20
_MOST_NAMES = 4
_CALLS_THAT_TRAIN = {"fit", "train"}
_MAGIC = "%%smtc"


def offered_cells() -> tuple[OfferedCell, ...]:
    """Return the cells that were run in this kernel and may train something, the newest first.

    Such a cell is Python as a whole (below a line of ``%%smtc``), and has a loop, or calls
    something's ``fit`` or ``train``. Nothing of its text is told but what it defines or
    imports: it may hold a secret.
    """
    return tuple(islice(_offered(), _MOST_CELLS))


def save_cell(number: int) -> SavedCell:
    """Make a file of a cell, as ``%%smtc`` does.

    Args:
        number: The number in its prompt.
    """
    source = dict(_cells()).get(number)
    if source is None:
        problem = f"There is no cell {number} any more. Run it again, and choose it anew."
        return SavedCell(number=number, path="", problem=problem)
    try:
        return SavedCell(number=number, path=str(saved_cell(source)), problem="")
    except (SpecError, OSError) as error:
        return SavedCell(number=number, path="", problem=str(error))


def _offered() -> Iterator[OfferedCell]:
    for number, source in _cells():
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # a warning is for the run's log
                tree = ast.parse(source)
        except (SyntaxError, ValueError):
            continue
        if any(map(_may_train, ast.walk(tree))):
            lines = count(len(source.strip().splitlines()), "line")
            yield OfferedCell(
                number=number, about=": ".join(filter(None, (lines, _told(tree))))
            )


def _cells() -> Iterator[tuple[int, str]]:
    """Return number and source of the newest cells, each source once."""
    shell = get_ipython()
    history = None if shell is None else shell.history_manager
    sources = [] if history is None else history.input_hist_raw
    seen = set()
    for number in range(len(sources) - 1, max(0, len(sources) - 1 - _MOST_LOOKED_AT), -1):
        source = sources[number]
        head, _, body = source.partition("\n")
        if head.startswith(_MAGIC):
            source = body
        if source not in seen:
            seen.add(source)
            yield number, source


def _may_train(node: ast.AST) -> bool:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return node.func.attr in _CALLS_THAT_TRAIN
    return isinstance(node, ast.For | ast.While)


def _told(tree: ast.Module) -> str:
    """Return what a cell defines, or else what it imports."""
    kinds = ast.FunctionDef | ast.ClassDef
    defined = [node.name for node in tree.body if isinstance(node, kinds)]
    imported = [
        name
        for node in tree.body
        for name in (
            [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else [node.module or ""]
            if isinstance(node, ast.ImportFrom)
            else []
        )
    ]
    names = defined or imported
    more = ", …" if len(names) > _MOST_NAMES else ""
    verb = "defines" if defined else "imports"
    return f"{verb} {', '.join(names[:_MOST_NAMES])}{more}" if names else ""
