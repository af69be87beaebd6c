"""What a form is told of scripts that it offers. Goes to the browser as JSON.

``smtc_lab.views.wire_schema`` tells TypeScript of it; both read
``tests/fixtures/scripts.json``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from smtc_lab.views.text.json_values import json_values

SCRIPTS_VERSION: Literal[1] = 1
"""Version of ``Scripts``; another one means another front end."""


@dataclass(frozen=True, kw_only=True)
class OfferedScript:
    """A script that can be chosen."""

    label: str
    """What it is called: the name of its file."""

    path: str
    """What the entry point becomes."""

    about: str
    """What it does, in a sentence, or the folder in which it lies."""


@dataclass(frozen=True, kw_only=True)
class OfferedCell:
    """A cell of the notebook that was run, and that can be run as a script."""

    number: int
    """The number in its prompt, from 1."""

    about: str
    """Its first line of code."""


@dataclass(frozen=True, kw_only=True)
class ScriptFolder:
    """A folder that is looked into."""

    path: str
    """Where it is, from the root."""

    parent: str | None
    """The folder that it lies in; None: it is the root."""

    folders: tuple[str, ...]
    """Names of the folders in it, in order; hidden ones are left out."""

    files: tuple[str, ...]
    """Names of the Python files in it, in order."""

    is_cut: bool
    """Whether it holds more than is told."""

    problem: str
    """Why nothing of it is told; empty: it is."""


@dataclass(frozen=True, kw_only=True)
class SavedCell:
    """What came of a cell that was chosen."""

    number: int
    """The number in its prompt."""

    path: str
    """The file that it became; empty: it became none."""

    problem: str
    """Why it became none; empty: it did."""


@dataclass(frozen=True, kw_only=True)
class Scripts:
    """All scripts that a form offers."""

    version: Literal[1] = SCRIPTS_VERSION
    """Version of this description."""

    recent: tuple[OfferedScript, ...] = ()
    """Those of the newest runs, the newest first."""

    examples: tuple[OfferedScript, ...] = ()
    """Those that come with smtc_lab."""

    cells: tuple[OfferedCell, ...] = ()
    """Cells of the notebook whose kernel shows the form, the newest first."""

    folder: ScriptFolder | None = None
    """The folder that was asked for; None: nobody has asked yet."""

    saved: SavedCell | None = None
    """The cell that was chosen last; None: none yet."""

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return json_values(self)
