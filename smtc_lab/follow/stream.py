"""Sends tables to a browser, at most so many frames a second."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from smtc_lab.follow.turns import Turns

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from smtc_lab.follow.frames import Frame
    from smtc_lab.follow.table import LiveTable

_log = logging.getLogger(__name__)

FRAMES_PER_S = 30
"""Frames of one stream in a second, at most. A server drops messages beyond 1,000 a second."""

ALL_FRAMES_PER_S = 240
"""Frames of all streams of a kernel in a second, at most: each costs the page a message and a
drawing. With more than eight live views each of them is told less often, in turns."""

Send = Callable[[dict[str, Any], list[bytes]], None]
"""Called with the content and the buffers of a message."""

_TURNS = Turns(ALL_FRAMES_PER_S)

REPEAT_S = 2.0
"""Seconds from the first frame until everything is sent again without being asked for; then
after twice as long, and so on. A browser that came late asks for it, but while a cell runs
nobody in the kernel hears that."""


class Stream:
    """The tables of one model, and the thread that sends what is new in them.

    The thread sleeps while nothing is pushed, but for rare repetitions.

    Args:
        send: Called with the content and the buffers of each message; from a thread. Messages
            may get lost, so all is repeated. None: those who join are told, and lose nothing.
        read: Asked for the rows of a table between two row numbers, in at most so many bins;
            None, or None returned: there is nobody who keeps them.
    """

    def __init__(
        self,
        send: Send | None,
        *,
        read: Callable[[str, int, int, int], Frame | None] | None = None,
    ) -> None:
        self._listeners = [] if send is None else [send]
        self._repeats = send is not None
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

    def join(self, send: Send) -> None:
        """Send everything so far to one more listener, and from now on what is new."""
        with self._lock:
            self.flush()
            self._send_all([send])
            self._listeners.append(send)

    def leave(self, send: Send) -> None:
        """Send nothing more to a listener that joined."""
        with self._lock:
            self._listeners.remove(send)

    def notify(self) -> None:
        """Send what is new soon: within a thirtieth of a second, unless many others do too."""
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
                    self._send_frame(frame, self._listeners)
            if self._until_repeat_s() == 0:
                self._repeat_after_s *= 2
                self._send_all(self._listeners)

    def answer(self, message: Mapping[str, Any], *, to: Send | None = None) -> bool:
        """Answer a message of a browser; False: it is not about tables.

        Args:
            message: What it sent; it may be anything.
            to: Who asked, and is answered; None: all listeners are.
        """
        listeners = self._listeners if to is None else [to]
        if message.get("type") == "read":
            self._answer_read(message, listeners)
            return True
        if message.get("type") != "resync":
            return False
        with self._lock:
            self.flush()
            self._send_all(listeners, message.get("table"))
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
            if self._repeats:  # one of many in a kernel, all for one page
                time.sleep(_TURNS.take())
            try:
                self.flush()
            except Exception:  # noqa: BLE001  logged; the next rows must still be sent
                # the front end sees that rows are missing, and asks for them again
                _log.exception("Rows were not sent to the front end.")
            spent_s = time.monotonic() - began_s
            time.sleep(max(0.0, 1 / FRAMES_PER_S - spent_s))

    def _answer_read(self, message: Mapping[str, Any], listeners: Iterable[Send]) -> None:
        match message:
            case {"table": str(name), "first": int(first), "end": int(end), "most": int(most)}:
                is_whole = 0 <= first < end and most > 0
            case _:
                return
        if self._read is not None and name in self._tables and is_whole:
            frame = self._read(name, first, end, most)
            if frame is not None:
                self._send_frame(frame, listeners)

    def _until_repeat_s(self) -> float | None:
        """Return the seconds until everything is sent again; None: there is no need to."""
        if self._first_s is None or not self._repeats:
            return None
        return max(0.0, self._first_s + self._repeat_after_s - time.monotonic())

    def _send_all(self, listeners: Iterable[Send], name: object = None) -> None:
        """Send what was sent before: of one table, or of all."""
        for table in list(self._tables.values()):
            if name is None or name == table.name:
                self._send_frame(table.snapshot(), listeners)

    def _send_frame(self, frame: Frame, listeners: Iterable[Send]) -> None:
        if self._first_s is None:
            self._first_s = time.monotonic()
        content, buffers = frame.message()
        for send in listeners:
            send(content, buffers)
