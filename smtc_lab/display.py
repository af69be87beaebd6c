"""Rich display without knowing it: objects below the views hand themselves upwards.

The layers forbid an import of the views from here, and rightly so: a finished run is read with
no Jupyter installed. IPython asks an object for ``_repr_html_`` only where there is a notebook,
and only then is the view looked up by its name.
"""

from __future__ import annotations

import importlib
import sys
from typing import Any, ClassVar


def in_notebook() -> bool:
    """Return whether this process is the kernel of a notebook; IPython is not loaded for it."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return getattr(shell, "kernel", None) is not None


class Displayed:
    """Something that a notebook shows as a table instead of as text."""

    _html_view: ClassVar[str] = "smtc_lab.views.display"
    """Module of the views with ``to_html(obj)``."""

    def _repr_html_(self) -> str:
        html: str = importlib.import_module(self._html_view).to_html(self)
        return html


class BundleDisplayed(Displayed):
    """A comparison or a plan: a notebook keeps its numbers too, in a mime bundle."""

    _bundle_view: ClassVar[str] = "smtc_lab.views.comparison.bundle"
    """Module of the views with ``bundle_of(obj)``."""

    def _repr_mimebundle_(self, **_: object) -> dict[str, Any]:
        bundle: dict[str, Any] = importlib.import_module(self._bundle_view).bundle_of(self)
        return bundle


class PlanDisplayed(Displayed):
    """A part of a plan."""

    _html_view: ClassVar[str] = "smtc_lab.views.plan.display"


class LiveDisplayed(Displayed):
    """Something that goes on: a notebook shows it live, and keeps its result when it ends."""

    _live_view: ClassVar[str] = "smtc_lab.views.shown"
    """Module of the views with ``show(obj)`` and ``ended(obj)``."""

    def _ipython_display_(self) -> None:
        importlib.import_module(self._live_view).show(self)

    def _say_ended(self) -> None:
        """Put the result in the place of live views, if there are any, from this thread."""
        view = sys.modules.get(self._live_view)
        if view is not None:  # else it was never shown
            view.ended(self)
