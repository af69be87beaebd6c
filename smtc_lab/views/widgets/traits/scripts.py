"""The scripts that a form offers as a trait, for widgets that have such a form."""

from __future__ import annotations

import threading
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import traitlets

from smtc_lab.views.scripts.info import Scripts
from smtc_lab.views.widgets.base import View


class ScriptsView(View):
    """A widget whose form offers scripts. Nothing is looked for before a browser asks."""

    scripts = traitlets.Dict(read_only=True).tag(sync=True)
    """``Scripts`` of ``smtc_lab.views.scripts`` as JSON."""

    _scripts = Scripts()

    def answer_scripts(self, content: dict[str, Any]) -> bool:
        """Do what a browser asks for in a thread; False: it is about something else."""
        match content:
            case {"type": "scripts", "folder": str(folder)}:
                does = partial(self._look_for_scripts, folder)
            case {"type": "cell-script", "cell": int(number)}:
                does = partial(self._save_cell, number)
            case _:
                return False
        threading.Thread(target=does, name="smtc-scripts", daemon=True).start()
        return True

    def _look_for_scripts(self, folder: str) -> None:
        from smtc_lab.views.scripts.cells import offered_cells  # noqa: PLC0415  a form needs none yet
        from smtc_lab.views.scripts.offered import offered_scripts  # noqa: PLC0415

        found = offered_scripts(folder, base=Path.cwd())
        self._tell_scripts(replace(found, cells=offered_cells()))

    def _save_cell(self, number: int) -> None:
        from smtc_lab.views.scripts.cells import save_cell  # noqa: PLC0415  as above

        self._tell_scripts(replace(self._scripts, saved=save_cell(number)))

    def _tell_scripts(self, told: Scripts) -> None:
        self._scripts = told
        self.set_trait("scripts", told.as_dict())

    @traitlets.default("scripts")
    def _first(self) -> dict[str, Any]:
        return Scripts().as_dict()
