"""Shows live what goes on, and puts its result in the same place when it has ended.

A live widget needs a kernel; a saved notebook, papermill's output and a page without a script
do not have one. So a mime bundle replaces the widget once there is nothing left to watch.
"""

from __future__ import annotations

import importlib
import threading
import uuid
from typing import TYPE_CHECKING, Any, Protocol

from smtc_lab.display import in_notebook
from smtc_lab.errors import SmtcLabError
from smtc_lab.neutral_text import neutral

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ipywidgets import DOMWidget  # type: ignore[import-untyped]

LIVE_MIME = "application/vnd.smtc-lab.live+json"
"""What goes on, by its kind and its name: JupyterLab asks the server for it when the kernel of
the widget beside it is gone."""

_WIDGET_MIME = "application/vnd.jupyter.widget-view+json"


class Show(Protocol):
    """One thing that can be shown live."""

    key: str
    """Tells it from other things; two shows of one thing have the same."""

    kind: str
    """What it is: ``run``, ``comparison``, …"""

    name: str
    """Its name among those of its kind."""

    def has_ended(self) -> bool:
        """Return whether there is nothing left to watch."""
        ...

    def monitor(self) -> DOMWidget:
        """Return the widget that shows it live; its trait ``ended`` turns true at the end."""
        ...

    def first(self) -> dict[str, str]:
        """Return what stands beside the widget for front ends that have none."""
        ...

    def last(self) -> dict[str, Any]:
        """Return the mime bundle that stays. May take seconds; called once.

        Raises:
            SmtcLabError: It cannot be made.
        """
        ...


class _Shown:
    """The outputs of one thing."""

    def __init__(self, show: Show) -> None:
        self._show = show
        self._lock = threading.RLock()
        self._outputs: list[str] = []
        self._monitor: DOMWidget | None = None
        self._last: dict[str, Any] | None = None

    def add_output(self) -> None:
        """Show it in the cell that runs: live while it goes on, else as it ended."""
        name = f"smtc-{uuid.uuid4().hex}"
        if self._show.has_ended():
            _publish(self._bundle(), name)
            return
        with self._lock:
            self._outputs.append(name)
            if self._monitor is None:
                self._monitor = self._show.monitor()
                self._monitor.observe(self._on_ended, "ended")
            monitor = self._monitor
        place = {LIVE_MIME: {"kind": self._show.kind, "name": self._show.name}}
        _publish({**place, **_widget_bundle(monitor), **self._show.first()}, name)
        if monitor.ended:  # between the two looks
            self.finish()

    def finish(self) -> None:
        """Replace the widgets by the result, also again: a front end may drop messages."""
        with self._lock:
            if not self._outputs:
                return
            bundle = self._bundle()
            for name in self._outputs:
                _publish(bundle, name, update=True)
            # The widget is not closed: a page that was reloaded meanwhile has forgotten which
            # output has which name, and shows it on.

    def _on_ended(self, _change: object) -> None:
        self.finish()

    def _bundle(self) -> dict[str, Any]:
        with self._lock:
            if self._last is None:
                try:
                    self._last = self._show.last()
                except SmtcLabError as error:
                    first = self._show.first()
                    return {**first, "text/plain": f"{first['text/plain']}\n{error}"}
            return self._last


_SHOWN: dict[str, _Shown] = {}


def display_live(show: Show) -> None:
    """Show something in the cell that runs; in a terminal, print it."""
    if not in_notebook():
        print(neutral(show.first()["text/plain"]))  # noqa: T201  this is the view
        return
    _SHOWN.setdefault(show.key, _Shown(show)).add_output()


def finish(key: str) -> None:
    """Replace the widgets of something that has ended, from the cell that waited for it.

    papermill and nbconvert drop what is sent after the cell of an output has ended, unless the
    cell that runs sends it.
    """
    shown = _SHOWN.get(key)
    if shown is not None:
        shown.finish()


def _widget_bundle(monitor: DOMWidget) -> dict[str, Any]:
    made = monitor._repr_mimebundle_()
    data = made[0] if isinstance(made, tuple) else made
    return {_WIDGET_MIME: (data or {}).get(_WIDGET_MIME)}


def _publish(bundle: Mapping[str, Any], name: str, *, update: bool = False) -> None:
    display = importlib.import_module("IPython.display")
    if update:
        display.update_display(dict(bundle), display_id=name, raw=True)
    else:
        display.display(dict(bundle), display_id=name, raw=True)
