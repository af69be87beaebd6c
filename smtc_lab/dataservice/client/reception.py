"""Receives what comes over all connections of a client, in one thread at a time.

While the trainer computes, a thread in the background receives. While the trainer waits for a
batch, it receives itself: a batch then reaches it without a change of threads, which for small
batches costs more than the batch.
"""

from __future__ import annotations

import contextlib
import os
import select
import threading
import time
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable

_PAUSE_S = 0.0005
_LONGEST_PAUSE_S = 0.002


class Correspondent(Protocol):
    """The receiving and sending half of one connection, without waiting."""

    @property
    def may_have_more(self) -> bool:
        """Whether bytes may be there of which the descriptor does not tell."""
        ...

    def fileno(self) -> int:
        """Return the descriptor of its connection."""
        ...

    def receive(self, is_done: Callable[[], bool]) -> None:
        """Take what is there, until it is done. Never raises: what fails ends itself."""
        ...

    def flush(self) -> bool:
        """Send what could not be sent before; return whether all of it went."""
        ...


class Reception:
    """The connections of one client. Safe to use from all threads."""

    def __init__(self) -> None:
        self._poll = select.epoll()
        self._bell = os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK)
        self._poll.register(self._bell, select.EPOLLIN)
        self._all: dict[int, Correspondent] = {}
        self._unfinished: dict[int, Correspondent] = {}
        # Held by the one thread that receives.
        self._receiving = threading.Lock()
        self._is_wanted = False
        self._left_s = 0.0
        self._is_closed = False
        self._thread: threading.Thread | None = None

    def __del__(self) -> None:
        os.close(self._bell)

    def start(self) -> None:
        """Receive in the background too, from now on; safe twice."""
        if self._thread is None:
            self._thread = threading.Thread(
                target=self._receive_in_background, name="smtc_lab reception", daemon=True
            )
            self._thread.start()

    def close(self) -> None:
        """Let the thread in the background end soon. Takes no lock: a finalizer calls it."""
        self._is_closed = True
        self.ring()

    def ring(self) -> None:
        """Let whoever waits look at what has changed."""
        os.eventfd_write(self._bell, 1)

    def add(self, one: Correspondent) -> None:
        """Receive on its connection from now on."""
        self._all[one.fileno()] = one
        self._unfinished[one.fileno()] = one
        self._poll.register(one.fileno(), select.EPOLLIN)
        self.ring()

    def remove(self, one: Correspondent) -> None:
        """Receive no more on its connection; call it before the connection is closed."""
        descriptor = one.fileno()
        if self._all.pop(descriptor, None) is not None:
            self._unfinished.pop(descriptor, None)
            with contextlib.suppress(OSError):
                self._poll.unregister(descriptor)

    def flush_later(self, one: Correspondent) -> None:
        """Let it send on as soon as the connection takes more."""
        with contextlib.suppress(OSError):
            self._poll.modify(one.fileno(), select.EPOLLIN | select.EPOLLOUT)

    def note_visit(self, now_s: float) -> None:
        """Take note that the trainer took a batch: it will soon receive by itself again."""
        self._left_s = now_s

    def wait(self, is_done: Callable[[], bool], timeout_s: float) -> None:
        """Receive in this thread until it is done, or the time is over."""
        until_s = time.monotonic() + timeout_s
        self._is_wanted = True
        try:
            if not self._receiving.acquire(blocking=False):
                self.ring()
                self._receiving.acquire()
            try:
                while not is_done() and (left_s := until_s - time.monotonic()) > 0:
                    self._receive(left_s, is_done)
            finally:
                self._receiving.release()
        finally:
            self._left_s = time.monotonic()
            self._is_wanted = False

    def _receive_in_background(self) -> None:
        pause_s = _PAUSE_S
        while not self._is_closed:
            if self._is_wanted or time.monotonic() - self._left_s < _PAUSE_S:
                # The trainer takes batch after batch. Polling costs less than to be woken by
                # each of them.
                time.sleep(pause_s)
                pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)
                continue
            pause_s = _PAUSE_S
            with self._receiving:
                self._receive(-1, lambda: self._is_wanted)

    def _receive(self, timeout_s: float, is_done: Callable[[], bool]) -> None:
        """Take what is there; wait for it at most so long (negative: for ever)."""
        unfinished = list(self._unfinished.values())
        for one in unfinished:
            self._take(one, is_done)
            if is_done():
                return
        for descriptor, event in self._poll.poll(0 if self._unfinished else timeout_s):
            if descriptor == self._bell:
                with contextlib.suppress(BlockingIOError):
                    os.eventfd_read(self._bell)
                continue
            ready = self._all.get(descriptor)
            if ready is None:
                continue
            if event & select.EPOLLOUT and ready.flush():
                with contextlib.suppress(OSError):
                    self._poll.modify(descriptor, select.EPOLLIN)
            if event & ~select.EPOLLOUT:
                self._take(ready, is_done)

    def _take(self, one: Correspondent, is_done: Callable[[], bool]) -> None:
        one.receive(is_done)
        if one.may_have_more and one.fileno() in self._all:
            self._unfinished[one.fileno()] = one
        else:
            self._unfinished.pop(one.fileno(), None)
