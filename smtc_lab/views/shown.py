"""How what goes on shows itself in a notebook."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

from smtc_lab.machine.installed import loaded
from smtc_lab.views.kept import drawn_elsewhere
from smtc_lab.views.kinds import kind_of
from smtc_lab.views.live_display import display_live, finish

if TYPE_CHECKING:
    from smtc_lab.views.kinds import Thing
    from smtc_lab.views.widgets.base import View


class ThingShow:
    """A run or a study, for ``smtc_lab.views.live_display``."""

    def __init__(self, thing: Thing) -> None:
        self._thing = thing
        self._kind = kind_of(thing)
        self.key = key_of(thing)
        self.kind = self._kind.name
        self.name = thing.folder.path.name

    def has_ended(self) -> bool:
        """Return whether it has ended."""
        return self._thing.state.is_terminal

    def monitor(self) -> View:
        """Return the widget that shows it live."""
        # anywidget takes a tenth of a second to import
        view: View = loaded(self._kind.monitor)(self._thing)
        return view

    def first(self) -> dict[str, str]:
        """Return text and HTML of it as it is now."""
        seen = self._kind.first(self._thing.folder.path)
        text, html = self._kind.text(seen), self._kind.html(seen)
        if self.has_ended():
            return {"text/plain": text, "text/html": html}
        opening = self._kind.opening.format(name=self._thing.folder.path.name)
        note = f"This was saved while the {self._kind.name} went on. {opening} shows where it "
        note += "stands."
        return {
            "text/plain": f"{text}\n{note}",
            "text/html": f"{html}\n<div>{escape(note, quote=False)}</div>",
        }

    def last(self) -> dict[str, Any]:
        """Return its mime bundle.

        Raises:
            ViewError: It could not be made.
        """
        return drawn_elsewhere(self._thing.folder.path)


def show(thing: Thing) -> None:
    """Show it in the cell that runs."""
    display_live(ThingShow(thing))


def ended(thing: Thing) -> None:
    """Put the result in the place of its live views."""
    finish(key_of(thing))


def key_of(thing: Thing) -> str:
    """Return what tells it from all others."""
    return str(thing.folder.path)
