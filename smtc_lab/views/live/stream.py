"""Sends tables to a browser, at most so many frames a second."""

from __future__ import annotations

import logging
import threading
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from smtc_lab.views.live.frames import Frame
    from smtc_lab.views.live.table import LiveTable

_log = logging.getLogger(__name__)

FRAMES_PER_S = 30
"""Frames of one stream in a second, at most. A server drops messages beyond 1,000 a second."""

REPEAT_S = 2.0
"""Seconds from the first frame until everything is sent again without being asked for; then
after twice as long, and so on. A browser that came late asks for it, but while a cell runs
nobody in the kernel hears that."""


class Stream:
    """The tables of one model, and the thread that sends what is new in them.

    The thread sleeps while nothing is pushed, but for rare repetitions.

    Args:
        send: Called with the content and the buffers of each message; from a thread.
        read: Asked for the rows of a table between two row numbers, in at most so many bins;
            None, or None returned: there is nobody who keeps them.
    """

    def __init__(
        self,
        send: Callable[[dict[str, Any], list[bytes]], None],
        *,
        read: Callable[[str, int, int, int], Frame | None] | None = None,
    ) -> None:
        self._send = send
        self._read = read
        self._tables: dict[str, LiveTable] = {}
        self._news = threading.Event()
        self._closed = False
        self._thread: threading.Thread | None = None
        self._lock = threading.RLock()
        self._repeat_after_s = REPEAT_S
        self._first_s: float | None = None

    def add(self, table: LiveTable) -> LiveTable:
        """Send a table from now on, and return it."""
        with self._lock:
            self._tables[table.name] = table
        return table

    def notify(self) -> None:
        """Send what is new within a thirtieth of a second."""
        if self._news.is_set():
            return
        with self._lock:
            if self._thread is None and not self._closed:
                self._thread = threading.Thread(
                    target=self._run, name="smtc-stream", daemon=True
                )
                self._thread.start()
        self._news.set()

    def flush(self) -> None:
        """Send what is new at once, from the calling thread."""
        with self._lock:
            for table in list(self._tables.values()):
                frame = table.cut()
                if frame is not None:
                    self._send_frame(frame)
            if self._until_repeat_s() == 0:
                self._repeat_after_s *= 2
                self._send_all()

    def answer(self, message: Mapping[str, Any]) -> bool:
        """Answer a message of the browser; False: it is not about tables."""
        if message.get("type") == "read":
            return self._answer_read(message)
        if message.get("type") != "resync":
            return False
        name = message.get("table")
        with self._lock:
            self.flush()
            self._send_all(name)
        return True

    def close(self) -> None:
        """Send what is left, and end the thread. Safe to call twice."""
        self.flush()
        self._closed = True
        self._news.set()

    def _run(self) -> None:
        while True:
            self._news.wait(self._until_repeat_s())
            self._news.clear()
            if self._closed:
                return
            began_s = time.monotonic()
            try:
                self.flush()
            except Exception:  # noqa: BLE001  logged; the next rows must still be sent
                # the front end sees that rows are missing, and asks for them again
                _log.exception("Rows were not sent to the front end.")
            spent_s = time.monotonic() - began_s
            time.sleep(max(0.0, 1 / FRAMES_PER_S - spent_s))

    def _answer_read(self, message: Mapping[str, Any]) -> bool:
        # a browser sent it, so it may be anything
        match message:
            case {"table": str(name), "first": int(first), "end": int(end), "most": int(most)}:
                is_whole = 0 <= first < end and most > 0
            case _:
                return True
        if self._read is not None and name in self._tables and is_whole:
            frame = self._read(name, first, end, most)
            if frame is not None:
                self._send_frame(frame)
        return True

    def _until_repeat_s(self) -> float | None:
        """Return the seconds until everything is sent again; None: nothing was sent yet."""
        if self._first_s is None:
            return None
        return max(0.0, self._first_s + self._repeat_after_s - time.monotonic())

    def _send_all(self, name: object = None) -> None:
        """Send what was sent before: of one table, or of all."""
        for table in list(self._tables.values()):
            if name is None or name == table.name:
                self._send_frame(table.snapshot())

    def _send_frame(self, frame: Frame) -> None:
        if self._first_s is None:
            self._first_s = time.monotonic()
        self._send(*frame.message())
