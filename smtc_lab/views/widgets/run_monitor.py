"""A run, watched live."""

from __future__ import annotations

from typing import Any, ClassVar

import traitlets

from smtc_lab.launchers.run import Run
from smtc_lab.views.live.run_watch import RunWatch
from smtc_lab.views.widgets.watching import WatchingView


class RunMonitor(WatchingView):
    """State, charts, log and Stop button of a run: growing or ended, of any process.

    Args:
        run: The run, or its name.

    Raises:
        StoreError: There is no such run, or its folder cannot be read.
        ViewError: The front end was not built.
    """

    view: ClassVar[str] = "run-monitor"
    watched: ClassVar[str] = "run"

    log = traitlets.Dict(read_only=True).tag(sync=True)
    """The last lines that were printed: ``lines``, each a host and a text, and ``first``, the
    number of the first of them."""

    ended = traitlets.Bool(read_only=True)
    """Whether the run has ended and everything of it was told. Turns true once, in a thread."""

    def __init__(self, run: Run | str) -> None:
        self.run = Run.open(run) if isinstance(run, str) else run
        """The run."""
        self._watch = RunWatch(self.run.folder, self.send, self)
        # what a browser gets first is whole
        self.on_values(self._watch.first())
        super().__init__()
        self.on_msg(self._on_message)
        self._watch.start()

    def wait(self, timeout_s: float | None = None) -> bool:
        """Wait until the run has ended and all of it was told; False: not in that time."""
        return self._watch.join(timeout_s)

    def close(self) -> None:
        """Stop watching, and take the view away. The run goes on."""
        if hasattr(self, "_watch"):  # a run that is not there was refused before
            self._watch.close()
        super().close()

    def on_end(self) -> None:
        """Take note of the end."""
        self.set_trait("ended", True)

    def _stop_watched(self) -> None:
        self.run.stop()

    def _on_message(self, _widget: object, content: Any, _buffers: object) -> None:  # noqa: ANN401  what a browser sent
        if not isinstance(content, dict) or self._watch.answer(content):
            return
        if content.get("type") == "stop":
            self.stop()
