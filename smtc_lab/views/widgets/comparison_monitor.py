"""A comparison, watched live."""

from __future__ import annotations

from typing import Any, ClassVar

import traitlets

from smtc_lab.study.comparison_run import ComparisonRun
from smtc_lab.views.live.comparison_watch import ComparisonWatch
from smtc_lab.views.widgets.watching import WatchingView


class ComparisonMonitor(WatchingView):
    """Verdict, progress, charts and Stop button of a comparison: growing or ended.

    Args:
        run: The comparison, or its name.

    Raises:
        StoreError: There is no such comparison, or its folder cannot be read.
        ViewError: The front end was not built.
    """

    view: ClassVar[str] = "comparison-monitor"
    watched: ClassVar[str] = "comparison"

    result = traitlets.Unicode(read_only=True).tag(sync=True)
    """The Comparison of all complete rounds as JSON text, at the end the final one; empty: no
    round is complete."""

    ended = traitlets.Bool(read_only=True)
    """Whether it has ended and everything of it was told. Turns true once, in a thread."""

    def __init__(self, run: ComparisonRun | str) -> None:
        self.run = ComparisonRun.open(run) if isinstance(run, str) else run
        """The comparison."""
        self._watch = ComparisonWatch(self.run, self.send, self)
        # what a browser gets first is whole
        self.on_values(self._watch.first())
        super().__init__()
        self.on_msg(self._on_message)
        self._watch.start()

    def wait(self, timeout_s: float | None = None) -> bool:
        """Wait until it has ended and all of it was told; False: not in that time."""
        return self._watch.join(timeout_s)

    def close(self) -> None:
        """Stop watching, and take the view away. The comparison goes on."""
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
