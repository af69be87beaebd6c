"""What all widgets have in common: the front end, and who it is for."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any, ClassVar

import anywidget
import traitlets

from smtc_lab.errors import ViewError
from smtc_lab.neutral_text import neutral_json

_STATIC = Path(__file__).parent.parent / "static"
_SENDING = threading.RLock()
"""Held while a view sends or closes: a thread may tell something of one that is closing."""


class View(anywidget.AnyWidget):
    """A widget that shows one view of ``extensions/ui``.

    Raises:
        ViewError: The front end was not built.
    """

    view: ClassVar[str]
    """Name of the view in ``extensions/ui/src/views.ts``."""

    bundle: ClassVar[str] = "widget"
    """What holds it: a module and a style sheet of ``extensions/ui/build.mjs``, by name."""

    _view = traitlets.Unicode().tag(sync=True)

    def __init__(self, **traits: Any) -> None:  # noqa: ANN401  traitlets checks them
        self._esm = built_front_end(f"{self.bundle}.js")
        self._css = built_front_end(f"{self.bundle}.css")
        super().__init__(**{"_view": self.view, **traits})

    def set_trait(self, name: str, value: Any) -> None:  # noqa: ANN401  a trait's value
        """Tell the browser a value that it only shows, with neutral texts."""
        super().set_trait(name, neutral_json(value))

    def close(self) -> None:
        """Take the view away; what a thread still tells it is not sent."""
        with _SENDING:
            super().close()

    def _send(self, msg: Any, buffers: Any = None) -> None:  # noqa: ANN401  as in ipywidgets
        with _SENDING:
            super()._send(msg, buffers)

    def __repr__(self) -> str:
        # a notebook without a kernel, or that is not trusted, shows this in the view's place
        return f"<{type(self).__name__}: run this cell to see it>"


def built_front_end(name: str) -> str:
    """Return the text of a built file of the front end.

    Raises:
        ViewError: It was not built.
    """
    try:
        return (_STATIC / name).read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise ViewError(
            f"The front end {name!r} is not there: this copy of smtc_lab was installed from "
            "its source tree without being built. Run 'make front', or install a release."
        ) from error
