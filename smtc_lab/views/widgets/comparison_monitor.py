"""A comparison, watched live."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, ClassVar

import traitlets

from smtc_lab.errors import SmtcLabError
from smtc_lab.launch.comparison_run import ComparisonRun
from smtc_lab.views.live.comparison_watch import ComparisonWatch
from smtc_lab.views.widgets.base import View

if TYPE_CHECKING:
    from smtc_lab.views.live.comparison_info import ComparisonInfo


class ComparisonMonitor(View):
    """Verdict, progress, charts and Stop button of a comparison: growing or ended.

    Args:
        run: The comparison, or its name.

    Raises:
        StoreError: There is no such comparison, or its folder cannot be read.
        ViewError: The front end was not built.
    """

    view: ClassVar[str] = "comparison-monitor"

    info = traitlets.Dict(read_only=True).tag(sync=True)
    """The fields of ``smtc_lab.views.live.comparison_info.ComparisonInfo``; changes about once
    a second."""

    result = traitlets.Unicode(read_only=True).tag(sync=True)
    """The Comparison of all complete rounds as JSON text, at the end the final one; empty: no
    round is complete."""

    beat = traitlets.Dict(read_only=True).tag(sync=True)
    """A sign of life every two seconds until the end: ``number``, which grows, and
    ``elapsed_s``, how long the comparison has lasted."""

    stop_problem = traitlets.Unicode(read_only=True).tag(sync=True)
    """Why the comparison could not be stopped; empty: it could, or nobody asked."""

    ended = traitlets.Bool(read_only=True)
    """Whether it has ended and everything of it was told. Turns true once, in a thread."""

    def __init__(self, run: ComparisonRun | str) -> None:
        self.run = ComparisonRun.open(run) if isinstance(run, str) else run
        """The comparison."""
        self._watch = ComparisonWatch(self.run, self.send, self)
        # what a browser gets first is whole
        self.on_info(self._watch.describe())
        self.on_beat(self.info["elapsed_s"])
        super().__init__()
        self.on_msg(self._on_message)
        self._watch.start()

    def stop(self) -> None:
        """Stop the comparison, in a thread: the death of its last process takes a moment."""
        threading.Thread(target=self._stop, name="smtc-stop", daemon=True).start()

    def wait(self, timeout_s: float | None = None) -> bool:
        """Wait until it has ended and all of it was told; False: not in that time."""
        return self._watch.join(timeout_s)

    def close(self) -> None:
        """Stop watching, and take the view away. The comparison goes on."""
        self._watch.close()
        super().close()

    def on_info(self, info: ComparisonInfo) -> None:
        """Show where it stands."""
        comparison = self._watch.follower.comparison
        if comparison is not None:
            self.set_trait("result", comparison.to_json())
        self.set_trait("info", info.to_json())

    def on_beat(self, elapsed_s: float) -> None:
        """Show a sign of life."""
        number = self.beat.get("number", 0) + 1
        self.set_trait("beat", {"number": number, "elapsed_s": elapsed_s})

    def on_end(self) -> None:
        """Take note of the end."""
        self.set_trait("ended", True)

    def _stop(self) -> None:
        try:
            self.run.stop()
        except (SmtcLabError, OSError) as error:
            self.set_trait("stop_problem", f"The comparison could not be stopped: {error}")

    def _on_message(self, _widget: object, content: Any, _buffers: object) -> None:  # noqa: ANN401  what a browser sent
        if not isinstance(content, dict) or self._watch.answer(content):
            return
        if content.get("type") == "stop":
            self.stop()
