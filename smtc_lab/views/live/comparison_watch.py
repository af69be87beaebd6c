"""Watches a comparison in a thread of its own, and tells what is new until it has ended."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any, Protocol

from smtc_lab.errors import SmtcLabError
from smtc_lab.views.live.comparison_describer import ComparisonDescriber
from smtc_lab.views.live.comparison_follower import ComparisonFollower
from smtc_lab.views.live.run_watch import BEAT_S
from smtc_lab.views.live.stream import FRAMES_PER_S, Stream

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from smtc_lab.launch.comparison_run import ComparisonRun
    from smtc_lab.views.live.comparison_info import ComparisonInfo
    from smtc_lab.views.live.frames import Frame

_AFTER_PROBLEM_S = 2.0


class Audience(Protocol):
    """Whom a watch tells; always from its thread."""

    def on_info(self, info: ComparisonInfo) -> None:
        """Take where the comparison stands; about once a second, and when that changes."""

    def on_beat(self, elapsed_s: float) -> None:
        """Take a sign of life, and how long the comparison has lasted in seconds."""

    def on_end(self) -> None:
        """Take note that it has ended and everything of it was told. Once."""


class ComparisonWatch:
    """Follows a comparison, also of another process, ended or not.

    Args:
        run: The comparison.
        send: Called with the content and the buffers of each message about its tables.
        audience: Whom it tells everything else.
    """

    def __init__(
        self,
        run: ComparisonRun,
        send: Callable[[dict[str, Any], list[bytes]], None],
        audience: Audience,
    ) -> None:
        self._stream = Stream(send, read=self._read)
        self.follower = ComparisonFollower(run, self._stream)
        """What it sees."""
        self._audience = audience
        self._describer = ComparisonDescriber(self.follower)
        self._closing = threading.Event()
        self._beat_s = time.monotonic()
        self._thread = threading.Thread(
            target=self._run, name="smtc-comparison-watch", daemon=True
        )

    def describe(self) -> ComparisonInfo:
        """Return where the comparison stands. For the time before ``start``."""
        try:
            return self._describer.describe()
        except SmtcLabError as error:
            return self._describer.describe_problem(str(error))

    def start(self) -> None:
        """Begin to watch, in a thread."""
        self._thread.start()

    def answer(self, message: Mapping[str, Any]) -> bool:
        """Answer a message of a browser; False: it is not about tables."""
        return self._stream.answer(message)

    def close(self) -> None:
        """End the thread, soon. Safe to call twice, and from the thread itself."""
        self._closing.set()

    def join(self, timeout_s: float | None = None) -> bool:
        """Wait until the watch has told the end of the comparison; False: not yet."""
        self._thread.join(timeout_s)
        return not self._thread.is_alive()

    def _run(self) -> None:
        is_over = False
        while not is_over and not self._closing.is_set():
            wait_s = 1 / FRAMES_PER_S
            try:
                if self.follower.look():
                    self._audience.on_info(self._describer.describe())
                is_over = self.follower.is_over
            except SmtcLabError as error:
                self._audience.on_info(self._describer.describe_problem(str(error)))
                is_over = self.follower.state.is_terminal
                wait_s = _AFTER_PROBLEM_S
            except OSError:  # the front end is gone; a new one asks for everything
                wait_s = _AFTER_PROBLEM_S
            if is_over or time.monotonic() - self._beat_s >= BEAT_S:
                self._beat_s = time.monotonic()
                self._audience.on_beat(self._describer.elapsed_s())
            if not is_over:
                self._closing.wait(wait_s)
        self._stream.close()
        if is_over:
            self._audience.on_end()

    def _read(self, table: str, first: int, end: int, most: int) -> Frame | None:
        try:
            return self.follower.read(table, first, end, most)
        except SmtcLabError:  # the watch itself tells what is wrong
            return None
