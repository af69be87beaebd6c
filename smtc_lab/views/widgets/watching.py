"""What the live widgets have in common: what is known, a sign of life, and a Stop button."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import traitlets

from smtc_lab.views.live.stopping import stop_soon
from smtc_lab.views.widgets.base import View

if TYPE_CHECKING:
    from collections.abc import Mapping


class WatchingView(View):
    """A widget that shows something that goes on, and can stop it."""

    watched: ClassVar[str]
    """What it shows, in a word for people."""

    info = traitlets.Dict(read_only=True).tag(sync=True)
    """What is known of it now; empty: nothing was started yet."""

    beat = traitlets.Dict(read_only=True).tag(sync=True)
    """A sign of life every two seconds until it has ended: ``number``, which grows, and
    ``elapsed_s``, how long it has lasted."""

    stop_problem = traitlets.Unicode(read_only=True).tag(sync=True)
    """Why it could not be stopped; empty: it could, or nobody asked."""

    def stop(self) -> None:
        """Stop it, in a thread: the death of its last process takes a moment."""
        stop_soon(
            self.watched,
            self._stop_watched,
            on_problem=lambda problem: self.set_trait("stop_problem", problem),
        )

    def on_values(self, values: Mapping[str, Any]) -> None:
        """Show what a watch tells: it calls its values as the traits are called."""
        for name, value in values.items():
            self.set_trait(name, value)

    def _stop_watched(self) -> None:
        """Stop it, and wait for the death of its last process."""
        raise NotImplementedError
