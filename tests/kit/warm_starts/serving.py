"""Forks what is asked for over a connection, and tells how it ended."""

from __future__ import annotations

import fcntl
import json
import os
import select
import signal
import socket
from contextlib import suppress
from typing import TYPE_CHECKING, NoReturn

from tests.kit.warm_starts.inherited import inherit
from tests.kit.warm_starts.told import MOST_PASSED, Told

if TYPE_CHECKING:
    from tests.kit.warm_starts.becoming import Becoming

_ABOVE = 256
"""What was received lies from here on until its place is free."""


class Serving:
    """Forks processes for who started this one.

    Args:
        descriptor: Connection over which they are asked for.
        becoming: Makes a forked process what was asked for.
    """

    def __init__(self, descriptor: int, becoming: Becoming) -> None:
        self._connection = socket.socket(fileno=descriptor)
        self._becoming = becoming
        self._parent = os.pidfd_open(os.getppid())
        self._wake, woken = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        signal.set_wakeup_fd(woken, warn_on_full_buffer=False)
        for number in (signal.SIGCHLD, signal.SIGINT):
            signal.signal(number, lambda *_: None)
        self._poller = select.poll()
        for each in (descriptor, self._parent, self._wake):
            self._poller.register(each, select.POLLIN)
        self._listeners: dict[int, int] = {}
        """Where the end of each process is told."""
        self._told: set[int] = set()
        """Processes that have ended, and are not collected: somebody may ask for them yet."""

    def serve(self) -> None:
        """Serve until whoever started this process ends, or hangs up."""
        while True:
            heard = {each for each, _ in self._poller.poll()}
            if self._parent in heard:
                return
            if self._wake in heard:
                os.read(self._wake, 4096)
            if self._connection.fileno() in heard and not self._hear():
                return
            self._tell_ends()
            for pid in [each for each in self._told if _has_hung_up(self._listeners[each])]:
                os.waitpid(pid, 0)
                self._told.remove(pid)
                listener = self._listeners.pop(pid)
                self._poller.unregister(listener)
                os.close(listener)

    def _hear(self) -> bool:
        """Fork what is asked for; return False when nothing will be any more."""
        asked, descriptors, _, _ = socket.recv_fds(self._connection, 1, MOST_PASSED + 8)
        if not asked:
            return False
        pid = os.fork()
        if pid == 0:
            _be(self._becoming, descriptors)
        _, listener, *others = descriptors
        self._listeners[pid] = listener
        self._poller.register(listener, 0)  # it is told when nobody listens any more
        for each in (descriptors[0], *others):
            os.close(each)
        return True

    def _tell_ends(self) -> None:
        for pid in self._listeners.keys() - self._told:
            ended = os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            if ended is None:
                continue
            self._told.add(pid)
            is_code = ended.si_code == os.CLD_EXITED
            dumped = 0x80 if ended.si_code == os.CLD_DUMPED else 0
            status = ended.si_status << 8 if is_code else ended.si_status | dumped
            with suppress(OSError):  # nobody listens
                os.write(self._listeners[pid], f"{status}\n".encode())


def _has_hung_up(listener: int) -> bool:
    poller = select.poll()
    poller.register(listener, 0)
    return bool(poller.poll(0))


def _be(becoming: Becoming, descriptors: list[int]) -> NoReturn:
    """Become the process, in the forked one."""
    say = descriptors[1]
    try:
        high = [fcntl.fcntl(each, fcntl.F_DUPFD_CLOEXEC, _ABOVE) for each in descriptors]
        asked, say, folder, *given = high
        with os.fdopen(asked, encoding="utf-8") as file:
            described = Told(**json.load(file))
        os.fchdir(folder)
        inherit(described.asked_from)
        for number, descriptor in zip(described.passed, given[3:], strict=True):
            os.dup2(descriptor, number)
        word = f"+{os.getpid()}\n".encode()
        becoming.become(described, given[:3], say=say, word=word)
    except BaseException as error:  # noqa: BLE001  who waits must be told
        os.write(say, f"!{type(error).__name__}: {error}".encode())
    finally:
        os._exit(1)
