"""What can be watched: values that change, and messages about tables."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, Protocol

from smtc_lab.views.live.stopping import stop_soon

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from smtc_lab.views.live.watch import Audience, Watch


class Listener(Protocol):
    """Who watches. It is called from any thread, and must not wait."""

    def on_topic(self, topic: Topic) -> None:
        """Take note of what is watched from now on."""

    def on_news(self) -> None:
        """Take note that a value has changed; ``Topic.news`` tells it."""

    def on_message(self, content: dict[str, Any], buffers: list[bytes]) -> None:
        """Take a message about a table."""


class Topic(Protocol):
    """What can be watched, by any number of listeners. All methods work from any thread."""

    def join(self, listener: Listener) -> None:
        """Tell a listener everything, and from now on what is new."""

    def leave(self, listener: Listener) -> bool:
        """Tell a listener nothing more; True: nobody listens now."""
        ...

    def news(self, seen: int) -> tuple[dict[str, Any], int]:
        """Return the values that are newer than a version, and the newest version.

        Args:
            seen: Version that was returned before; 0: none.
        """
        ...

    def receive(self, content: Mapping[str, Any], listener: Listener) -> None:
        """Take a message of a listener's browser; it may be anything."""

    def close(self) -> None:
        """End its thread, soon."""


class WatchTopic:
    """A run or a comparison, as its widget shows it: values are the widget's traits.

    Args:
        what: ``run`` or ``comparison``.
        watch_for: Returns what watches it.
        stop: Stops it, and waits for its end.

    Raises:
        StoreError: Its folder cannot be read.
    """

    def __init__(
        self,
        what: str,
        watch_for: Callable[[Audience], Watch],
        stop: Callable[[], object],
    ) -> None:
        self._what = what
        self._stop = stop
        self._lock = threading.Lock()
        self._listeners: list[Listener] = []
        self._values: dict[str, tuple[int, Any]] = {}
        self._version = 0
        self._watch = watch_for(self)
        self.on_values({"stop_problem": "", **self._watch.first()})
        self._watch.start()

    def on_values(self, values: Mapping[str, Any]) -> None:
        """Take what the watch tells."""
        with self._lock:
            self._version += 1
            for name, value in values.items():
                self._values[name] = (self._version, value)
            listeners = list(self._listeners)
        for listener in listeners:
            listener.on_news()

    def on_end(self) -> None:
        """Take note of the end; the values tell it."""

    def join(self, listener: Listener) -> None:
        """Tell a listener everything, and from now on what is new."""
        with self._lock:
            self._listeners.append(listener)
        listener.on_news()
        self._watch.stream.join(listener.on_message)

    def leave(self, listener: Listener) -> bool:
        """Tell a listener nothing more; True: nobody listens now."""
        self._watch.stream.leave(listener.on_message)
        with self._lock:
            self._listeners.remove(listener)
            return not self._listeners

    def news(self, seen: int) -> tuple[dict[str, Any], int]:
        """Return the values that are newer than a version, and the newest version."""
        with self._lock:
            news = {
                name: value for name, (version, value) in self._values.items() if version > seen
            }
            return news, self._version

    def receive(self, content: Mapping[str, Any], listener: Listener) -> None:
        """Take a message of a listener's browser: what a widget's view would send."""
        if not self._watch.answer(content, to=listener.on_message) and (
            content.get("type") == "stop"
        ):
            self.stop()

    def stop(self) -> None:
        """Stop what is watched, in a thread, and tell all listeners if that fails."""
        stop_soon(
            self._what,
            self._stop,
            on_problem=lambda problem: self.on_values({"stop_problem": problem}),
        )

    def set_pause(self, pause_s: float) -> None:
        """Look at most once in so many seconds."""
        self._watch.pause_s = pause_s

    def close(self) -> None:
        """End the watch, soon. What is watched goes on."""
        self._watch.close()
