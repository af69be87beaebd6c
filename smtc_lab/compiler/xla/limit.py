"""A time limit on each compilation of XLA, which only the end of its process stops."""

from __future__ import annotations

import os
import sys
import threading
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_LOOKS = 20
"""Looks within the time limit; it may be exceeded by a look's distance."""

_LONGEST_WAIT_S = 1.0
"""Between two looks: a look takes microseconds."""


class XlaCompileLimit:
    """Ends this process, with a message, when a compilation takes longer than a limit.

    A compilation is one call into C++, without a way to interrupt it. It lets other threads of
    Python run, and torch_xla counts compilations when they begin and when they end.
    """

    def __init__(self, limit_s: float, *, counts: Callable[[], tuple[int, int]]) -> None:
        """Watch all compilations of this process from now on, until ``close``.

        Args:
            limit_s: Seconds that one compilation may take.
            counts: Returns how many compilations have begun, and how many have ended.
        """
        self._limit_s = limit_s
        self._counts = counts
        self._is_closed = threading.Event()
        watch = threading.Thread(
            target=self._watch, args=counts(), name="smtc-xla-limit", daemon=True
        )
        watch.start()

    def close(self) -> None:
        """Watch no more. Twice is once."""
        self._is_closed.set()

    def _watch(self, begun: int, ended: int) -> None:
        wait_s = min(self._limit_s / _LOOKS, _LONGEST_WAIT_S)
        never_ended, all_ended = begun - ended, ended
        since_s = time.monotonic()
        while not self._is_closed.wait(wait_s):
            begun, ended = self._counts()
            if ended != all_ended or begun - ended == never_ended:
                all_ended = ended
                since_s = time.monotonic()
            elif time.monotonic() - since_s > self._limit_s:
                self._end_process()

    def _end_process(self) -> None:
        sys.stderr.write(
            f"CompilerError: XLA compiled for longer than timeout_s={self._limit_s:g}. Its "
            "compilation cannot be interrupted, so the process ends, also with "
            "fallback='eager'. Raise timeout_s, or choose backend='inductor', which can be "
            "interrupted, or backend='eager'.\n"
        )
        sys.stderr.flush()
        os._exit(1)
