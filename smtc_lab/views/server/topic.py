"""What can be watched: values that change, and messages about tables."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, Protocol

from smtc_lab.views.kinds import kind_at
from smtc_lab.views.live.stopping import soon

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


class Listener(Protocol):
    """Who watches. It is called from any thread, and must not wait."""

    def on_topic(self, topic: Topic) -> None:
        """Take note of what is watched from now on."""

    def on_news(self) -> None:
        """Take note that a value has changed; ``Topic.news`` tells it."""

    def on_message(self, content: dict[str, Any], buffers: list[bytes]) -> None:
        """Take a message about a table."""


class Topic(ABC):
    """What can be watched, by any number of listeners. All methods work from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._listeners: list[Listener] = []
        self._version = 0

    def join(self, listener: Listener) -> None:
        """Tell a listener everything, and from now on what is new."""
        with self._lock:
            self._listeners.append(listener)
        listener.on_news()

    def leave(self, listener: Listener) -> bool:
        """Tell a listener nothing more; True: nobody listens now."""
        with self._lock:
            self._listeners.remove(listener)
            return not self._listeners

    @abstractmethod
    def news(self, seen: int) -> tuple[dict[str, Any], int]:
        """Return the values that are newer than a version, and the newest version.

        Args:
            seen: Version that was returned before; 0: none.
        """

    def receive(self, content: Mapping[str, Any], listener: Listener) -> None:  # noqa: B027  a list takes none
        """Take a message of a listener's browser; it may be anything."""

    @abstractmethod
    def close(self) -> None:
        """End its thread, soon. What is watched goes on."""


class WatchTopic(Topic):
    """What goes on in a folder, as its widget shows it: values are the widget's traits.

    Args:
        path: The folder.

    Raises:
        StoreError: It cannot be read.
    """

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._path = path
        self._kind = kind_at(path)
        self._values: dict[str, tuple[int, Any]] = {}
        self._watch = self._kind.watch(path, None, self)
        self._pause_s = self._watch.pause_s
        problems = dict.fromkeys(("stop_problem", "interrupt_problem", "resume_problem"), "")
        self.on_values({**problems, **self._watch.first()})
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
        super().join(listener)
        self._watch.stream.join(listener.on_message)

    def leave(self, listener: Listener) -> bool:
        """Tell a listener nothing more; True: nobody listens now."""
        self._watch.stream.leave(listener.on_message)
        return super().leave(listener)

    def news(self, seen: int) -> tuple[dict[str, Any], int]:
        """Return the values that are newer than a version, and the newest version."""
        with self._lock:
            news = {
                name: value for name, (version, value) in self._values.items() if version > seen
            }
            return news, self._version

    def receive(self, content: Mapping[str, Any], listener: Listener) -> None:
        """Take what a widget's view would send."""
        if self._watch.answer(content, to=listener.on_message):
            return
        if content.get("type") == "stop":
            self.stop()
        elif content.get("type") == "interrupt":
            self.interrupt()
        elif content.get("type") == "resume":
            self.resume(content)

    def stop(self) -> None:
        """Stop what is watched, in a thread, and tell all listeners if that fails."""
        soon(
            self._kind.name,
            "stopped",
            # what launched a run is asked for when it is to be stopped: a folder can be
            # watched without it
            lambda: self._kind.open(self._path).stop(),
            on_problem=lambda problem: self.on_values({"stop_problem": problem}),
        )

    def interrupt(self) -> None:
        """Take its instances away, in a thread, and tell all listeners if that fails."""
        self.on_values({"interrupt_problem": ""})
        soon(
            self._kind.name,
            "interrupted",
            lambda: self._kind.interrupt(self._kind.open(self._path)),
            on_problem=lambda problem: self.on_values({"interrupt_problem": problem}),
        )

    def resume(self, more: Mapping[str, Any]) -> None:
        """Go on with what has ended, in a thread, and tell all listeners if that fails.

        Args:
            more: What a view's message says it may take.
        """
        self.on_values({"resume_problem": ""})

        def go_on() -> None:
            self._kind.resume(self._kind.open(self._path), more)
            self._watch_again()

        soon(
            self._kind.name,
            "resumed",
            go_on,
            on_problem=lambda problem: self.on_values({"resume_problem": problem}),
        )

    def set_pause(self, pause_s: float) -> None:
        """Look at most once in so many seconds."""
        self._pause_s = self._watch.pause_s = pause_s

    def _watch_again(self) -> None:
        """Watch what has ended and goes on."""
        self._watch.close()
        watch = self._kind.watch(self._path, None, self)
        watch.pause_s = self._pause_s
        with self._lock:
            self._watch = watch
            for listener in self._listeners:
                watch.stream.join(listener.on_message)
        self.on_values(watch.first())
        watch.start()

    def close(self) -> None:
        """End the watch, soon."""
        self._watch.close()
