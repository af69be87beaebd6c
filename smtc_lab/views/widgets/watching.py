"""What the live widgets have in common: what is known, a sign of life, and a Stop button."""

from __future__ import annotations

import threading
from typing import ClassVar

import traitlets

from smtc_lab.errors import SmtcLabError
from smtc_lab.views.widgets.base import View


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
        threading.Thread(target=self._stop_or_tell, name="smtc-stop", daemon=True).start()

    def on_beat(self, elapsed_s: float | None) -> None:
        """Show a sign of life."""
        number = self.beat.get("number", 0) + 1
        self.set_trait("beat", {"number": number, "elapsed_s": elapsed_s})

    def _stop_watched(self) -> None:
        """Stop it, and wait for the death of its last process."""
        raise NotImplementedError

    def _stop_or_tell(self) -> None:
        try:
            self._stop_watched()
        except (SmtcLabError, OSError) as error:
            self.set_trait("stop_problem", f"The {self.watched} could not be stopped: {error}")
