"""What waits to be sent to one browser tab. Bounded, however slow the browser is."""

from __future__ import annotations

import threading
from collections import deque
from typing import TYPE_CHECKING, Any

from smtc_lab.views.server.wire import binary_message, json_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from smtc_lab.views.server.topic import Topic

MOST_BYTES = 4 * 2**20
"""Bytes of tables that wait at most, beside one message that is larger itself."""


class Watching:
    """One watch of one browser tab: what a topic tells goes into the tab's outbox."""

    def __init__(self, number: int, outbox: Outbox) -> None:
        self.number = number
        """What the browser calls it."""
        self.topic: Topic | None = None
        """What is watched; None: it was not opened yet, or could not be."""
        self.seen = 0
        """Version of the topic's values that was taken last."""
        self._outbox = outbox

    def on_topic(self, topic: Topic) -> None:
        """Take note of what is watched from now on."""
        self.topic = topic

    def on_news(self) -> None:
        """Take note that a value of the topic has changed. From any thread."""
        self._outbox.add_news(self)

    def on_message(self, content: dict[str, Any], buffers: list[bytes]) -> None:
        """Take a message about a table. From any thread."""
        self._outbox.add_message(self, content, buffers)


_Place = tuple[Watching, str]


class Outbox:
    """Values, which are sent as they are when their turn comes, and messages about tables.

    When too much waits, the rows that wait of a table are dropped. It is missing then: it is
    asked for as a whole once everything else was taken. So a browser gets less often what it
    cannot take, memory stays bounded, and nothing is lost or sent twice.

    Args:
        wake: Called, from any thread, when there is something to take after there was nothing.
    """

    def __init__(self, wake: Callable[[], None], *, most_bytes: int = MOST_BYTES) -> None:
        self._wake = wake
        self._most_bytes = most_bytes
        self._lock = threading.Lock()
        self._told: deque[dict[str, Any]] = deque()
        self._news: dict[Watching, None] = {}
        self._messages: deque[tuple[_Place, dict[str, Any], list[bytes]]] = deque()
        self._num_bytes = 0
        self._missing: dict[_Place, None] = {}
        self._awaited: _Place | None = None
        self._is_awake = False

    def tell(self, message: dict[str, Any]) -> None:
        """Send a message as it is."""
        with self._lock:
            self._told.append(message)
        self._notify()

    def add_news(self, watching: Watching) -> None:
        """Send the new values of a watch."""
        with self._lock:
            self._news[watching] = None
        self._notify()

    def add_message(
        self, watching: Watching, content: dict[str, Any], buffers: list[bytes]
    ) -> None:
        """Send a message about a table, or the whole table later."""
        place, kind = (watching, str(content.get("table"))), content.get("type")
        size = sum(map(len, buffers))
        with self._lock:
            if kind == "reset":
                self._drop(place)
                self._missing.pop(place, None)
                if self._awaited == place:
                    self._awaited = None
            elif kind == "rows" and (place in self._missing or place == self._awaited):
                return  # the whole table will hold these rows
            if not self._messages or self._num_bytes + size <= self._most_bytes:
                self._messages.append((place, content, buffers))
                self._num_bytes += size
            elif kind != "part":  # a page that looks closer asks for a part again
                self._drop(place, "rows")
                self._missing[place] = None
        self._notify()

    def forget(self, watching: Watching) -> None:
        """Send nothing more of a watch."""
        with self._lock:
            self._news.pop(watching, None)
            for place in {place for place, _, _ in self._messages if place[0] is watching}:
                self._drop(place)
            for place in [place for place in self._missing if place[0] is watching]:
                del self._missing[place]

    def take(self) -> str | bytes | None:
        """Return the next message; None: there is none. Only one thread may take."""
        while True:
            with self._lock:
                if self._told:
                    return json_text(self._told.popleft())
                if not self._news:
                    return self._take_message()
                watching = next(iter(self._news))
                del self._news[watching]
            if watching.topic is None:
                continue
            values, watching.seen = watching.topic.news(watching.seen)
            if values:
                return json_text({"type": "set", "id": watching.number, "values": values})

    @property
    def is_missing(self) -> bool:
        """Whether a table that was dropped is still to be asked for."""
        return bool(self._missing)

    def ask_for_missing(self) -> None:
        """Ask for a table that was dropped. When nothing is to be taken.

        Waits for the table's owner, so not from a thread that must not wait.
        """
        with self._lock:
            place = next(iter(self._missing), None)
            if place is None:
                return
            del self._missing[place]
            self._awaited = place
        watching, table = place
        if watching.topic is not None:
            watching.topic.receive({"type": "resync", "table": table}, watching)
        with self._lock:
            self._awaited = None

    def _take_message(self) -> bytes | None:
        if not self._messages:
            # whoever waits is woken by the next one, unless a dropped table is still to come
            self._is_awake = bool(self._missing)
            return None
        (watching, _), content, buffers = self._messages.popleft()
        self._num_bytes -= sum(map(len, buffers))
        return binary_message(watching.number, content, buffers)

    def _drop(self, place: _Place, kind: str | None = None) -> None:
        """Drop what waits of a table; with a kind, only that."""
        kept = deque(
            each
            for each in self._messages
            if each[0] != place or kind not in {None, each[1].get("type")}
        )
        self._num_bytes = sum(sum(map(len, buffers)) for _, _, buffers in kept)
        self._messages = kept

    def _notify(self) -> None:
        with self._lock:
            if self._is_awake:
                return
            self._is_awake = True
        self._wake()
