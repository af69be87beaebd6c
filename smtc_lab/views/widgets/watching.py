"""What the live widgets have in common: what is known, a sign of life, and a Stop button."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import traitlets

from smtc_lab.views.kinds import kind_of
from smtc_lab.views.live.stopping import soon
from smtc_lab.views.widgets.base import View, built_front_end

if TYPE_CHECKING:
    from collections.abc import Mapping

    from smtc_lab.views.kinds import Thing
    from smtc_lab.views.live.watch import Watch


class WatchingView(View):
    """A widget that shows something that goes on, and can stop it."""

    watched: str
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
        soon(
            self.watched,
            "stopped",
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


class Monitor(WatchingView):
    """Shows one thing that goes on or has ended, of any process.

    Args:
        run: What is shown.
    """

    run: Thing
    """What is shown."""

    interrupt_problem = traitlets.Unicode(read_only=True).tag(sync=True)
    """Why its instances could not be taken away; empty: they could, or nobody asked."""

    resume_problem = traitlets.Unicode(read_only=True).tag(sync=True)
    """Why it could not go on; empty: it could, or nobody asked."""

    ended = traitlets.Bool(read_only=True)
    """Whether it has ended and everything of it was told. Turns true in a thread."""

    def __init__(self, run: Thing) -> None:
        self.run = run
        kind = kind_of(run)
        self.watched = kind.name
        self._watch = self._first_look()
        super().__init__(_view=f"{kind.name}-monitor")
        self.on_msg(self._on_message)
        self._watch.start()

    def wait(self, timeout_s: float | None = None) -> bool:
        """Wait until it has ended and all of it was told; False: not in that time."""
        return self._watch.join(timeout_s)

    def interrupt(self) -> None:
        """Take its instances away, in a thread, as a spot market does."""
        self.set_trait("interrupt_problem", "")
        soon(
            self.watched,
            "interrupted",
            lambda: kind_of(self.run).interrupt(self.run),
            on_problem=lambda problem: self.set_trait("interrupt_problem", problem),
        )

    def resume(self, more: Mapping[str, Any] | None = None) -> None:
        """Go on with what has ended, in a thread.

        Args:
            more: ``max_jobs`` or ``budget_usd`` of a search; None: as many as it had.
        """
        self.set_trait("resume_problem", "")

        def go_on() -> None:
            kind_of(self.run).resume(self.run, more or {})
            self._watch.close()
            self.set_trait("ended", False)
            self._watch = self._first_look()
            self._watch.start()

        soon(
            self.watched,
            "resumed",
            go_on,
            on_problem=lambda problem: self.set_trait("resume_problem", problem),
        )

    def close(self) -> None:
        """Stop watching, and take the view away. What is shown goes on."""
        if hasattr(self, "_watch"):  # what is not there was refused before
            self._watch.close()
        super().close()

    def on_end(self) -> None:
        """Take note of the end."""
        self.set_trait("ended", True)

    def _stop_watched(self) -> None:
        self.run.stop()

    def _first_look(self) -> Watch:
        """Return what watches it; a browser gets first what is whole."""
        watch = kind_of(self.run).watch(self.run.folder.path, self.send, self)
        self.on_values(watch.first())
        return watch

    def _on_message(self, _widget: object, content: Any, _buffers: object) -> None:  # noqa: ANN401  what a browser sent
        if not isinstance(content, dict) or self._watch.answer(content):
            return
        if content.get("type") == "stop":
            self.stop()
        elif content.get("type") == "interrupt":
            self.interrupt()
        elif content.get("type") == "resume":
            self.resume(content)
        elif content.get("type") == "tuning-part":
            self.send({"type": "tuning-part", "module": built_front_end("tuning.js")})
