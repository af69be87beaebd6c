"""A Jupyter server as it is seen through a reverse proxy, and what the proxy saw."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import threading
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TextIO, cast
from urllib.parse import urlparse

from tests.kit.browser.path_proxy import Route, command
from tests.kit.runs import wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.kit.browser.jupyter import Server


class Proxy:
    """A running proxy.

    Args:
        words: Takes the words of ``path_proxy``.
        events: Tells what happens.
    """

    def __init__(self, words: TextIO, events: TextIO) -> None:
        self._words = words
        self._events: list[dict[str, Any]] = []
        threading.Thread(target=self._listen, args=(events,), daemon=True).start()
        wait_until(lambda: self._of("ready"), what="the start of the proxy")

    @property
    def strays(self) -> list[str]:
        """Addresses that were asked for and are not below the path."""
        return [event["path"] for event in self._of("stray")]

    def opened(self, path: str) -> list[int]:
        """Return the number of each WebSocket ever opened whose path ends so."""
        return [each["number"] for each in self._of("opened") if each["path"].endswith(path)]

    def still_open(self, path: str) -> list[int]:
        """Return the number of each WebSocket that is open and whose path ends so."""
        closed = {event["number"] for event in self._of("closed")}
        return [number for number in self.opened(path) if number not in closed]

    def cut(self) -> None:
        """Cut every connection, and let no other one through."""
        self._say("cut")

    def mend(self) -> None:
        """Let connections through again."""
        self._say("mend")

    def seen(self, server: Server) -> Server:
        """Return a server as it is seen through this proxy."""
        (ready,) = self._of("ready")
        path = urlparse(server.url).path
        return replace(server, url=f"http://127.0.0.1:{ready['port']}{path}")

    def _say(self, word: str) -> None:
        before = len(self._of(word))
        self._words.write(f"{word}\n")
        self._words.flush()
        wait_until(lambda: len(self._of(word)) > before, what=word)

    def _of(self, event: str) -> list[dict[str, Any]]:
        return [each for each in self._events if each["event"] == event]

    def _listen(self, events: TextIO) -> None:
        for line in events:
            self._events.append(json.loads(line))


@contextlib.contextmanager
def running_proxy(
    server: Server, *, latency_s: float = 0.0, idle_s: float | None = None
) -> Iterator[Proxy]:
    """Run a proxy in front of a server until the block ends; options as of a ``Route``."""
    address = urlparse(server.url)
    port = cast("int", address.port)  # servers of tests have one
    route = Route(path=address.path, port=port, latency_s=latency_s, idle_s=idle_s)
    with subprocess.Popen(  # noqa: S603  this python and fixed words
        command(sys.executable, route),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield Proxy(cast("TextIO", process.stdin), cast("TextIO", process.stdout))
        finally:
            process.kill()
