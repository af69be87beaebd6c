"""Spaces what many senders send, so that together they do not flood whom they send to."""

from __future__ import annotations

import threading
import time


class Turns:
    """Gives out moments that are equally far from each other, one to whoever asks next.

    Args:
        per_s: Moments in a second, at most.
    """

    def __init__(self, per_s: float) -> None:
        self._lock = threading.Lock()
        self._every_s = 1 / per_s
        self._next_s = 0.0

    def take(self) -> float:
        """Take the next moment, and return how far it is, in seconds."""
        with self._lock:
            now_s = time.monotonic()
            turn_s = max(now_s, self._next_s)
            self._next_s = turn_s + self._every_s
        return turn_s - now_s
