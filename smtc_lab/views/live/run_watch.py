"""Watches one run in a thread of its own, and tells what is new until the run has ended."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any, Protocol

from smtc_lab.errors import SmtcLabError
from smtc_lab.views.live.log_tail import LogTail
from smtc_lab.views.live.run_describer import RunDescriber
from smtc_lab.views.live.run_follower import RunFollower
from smtc_lab.views.live.stream import FRAMES_PER_S, Stream

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from smtc_lab.store.run_folder import RunFolder
    from smtc_lab.views.live.frames import Frame
    from smtc_lab.views.live.run_info import RunInfo

BEAT_S = 2.0
"""Time between two signs of life, also when nothing happens."""

_TOLD_S = 0.5
_AFTER_PROBLEM_S = 2.0


class Audience(Protocol):
    """Whom a watch tells; always from its thread."""

    def on_info(self, info: RunInfo) -> None:
        """Take what is known of the run; at most twice a second."""

    def on_log(self, log: dict[str, object]) -> None:
        """Take the last lines that were printed; at most twice a second."""

    def on_beat(self, elapsed_s: float | None) -> None:
        """Take a sign of life, and how long the run has lasted in seconds."""

    def on_end(self) -> None:
        """Take note that the run has ended and everything of it was told. Once."""


class RunWatch:
    """Follows a run, also of another process, ended or not.

    Args:
        folder: The run.
        send: Called with the content and the buffers of each message about its tables.
        audience: Whom it tells everything else.

    Raises:
        StoreError: The run's folder cannot be read.
    """

    def __init__(
        self,
        folder: RunFolder,
        send: Callable[[dict[str, Any], list[bytes]], None],
        audience: Audience,
    ) -> None:
        self._stream = Stream(send, read=self._read)
        self._audience = audience
        self._follower = RunFollower(folder, self._stream)
        self._describer = RunDescriber(self._follower)
        self._log = LogTail(folder.logs)
        self._closing = threading.Event()
        self._told_s = self._beat_s = -BEAT_S
        self._thread = threading.Thread(target=self._run, name="smtc-run-watch", daemon=True)

    def describe(self) -> RunInfo:
        """Return what is known of the run now. For the time before ``start``."""
        return self._describer.describe()

    def start(self) -> None:
        """Begin to watch, in a thread."""
        self._thread.start()

    def answer(self, message: Mapping[str, Any]) -> bool:
        """Answer a message of a browser; False: it is not about tables."""
        return self._stream.answer(message)

    def _read(self, table: str, first: int, end: int, most: int) -> Frame | None:
        """Return rows that a browser asked for in more detail; None: of another table."""
        try:
            return self._follower.read(table, first, end, most)
        except SmtcLabError:  # the watch itself tells what is wrong
            return None

    def close(self) -> None:
        """End the thread, soon. Safe to call twice, and from the thread itself."""
        self._closing.set()

    def join(self, timeout_s: float | None = None) -> bool:
        """Wait for the end of the watch, which is behind that of the run; False: not yet."""
        self._thread.join(timeout_s)
        return not self._thread.is_alive()

    def _run(self) -> None:
        pause_s = 1 / FRAMES_PER_S
        while not self._closing.is_set():
            begin_s = time.monotonic()
            ended = False
            try:
                ended = self._look()
                self._describer.problem = ""
                wait_s = max(0.0, pause_s - (time.monotonic() - begin_s))
            except SmtcLabError as error:
                self._describer.problem = str(error)
                wait_s = _AFTER_PROBLEM_S
                ended = self._follower.state.is_terminal
            except OSError:  # the front end is gone; a new one asks for everything
                wait_s = _AFTER_PROBLEM_S
            self._tell(last=ended)
            if ended:
                self._audience.on_end()
                return
            self._closing.wait(wait_s)

    def _look(self) -> bool:
        """Look once, and send what is new; True: the run has ended and all of it was seen."""
        ended = self._follower.state.is_terminal  # before the look, so that the look sees all
        self._follower.look()
        self._stream.flush()
        return ended

    def _tell(self, *, last: bool) -> None:
        now_s = time.monotonic()
        if last or now_s - self._told_s >= _TOLD_S:
            self._told_s = now_s
            if self._log.look():
                self._audience.on_log(self._log.as_dict())
            if self._describer.look(last=last):
                self._audience.on_info(self._describer.describe())
        if last or now_s - self._beat_s >= BEAT_S:
            self._beat_s = now_s
            self._audience.on_beat(self._describer.elapsed_s())
