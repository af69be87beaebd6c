"""A time limit on each compilation of torch.compile."""

from __future__ import annotations

import signal
import threading
import time
from typing import TYPE_CHECKING

import psutil

from smtc_lab.compiler.torch_names import needed, optional

if TYPE_CHECKING:
    from types import FrameType

_SIGNAL = signal.SIGRTMAX - 1
"""A real-time signal: it ends waits for a lock or a process, and nobody else uses it."""

_GIVING_UP_S = 10.0
"""How long threads that start compilers may take to see that theirs were ended."""

_CLOCK_TICK_S = 0.05
"""How coarsely the kernel dates processes, at most."""


class CompileTookTooLong(BaseException):
    """Raised in the middle of a compilation whose time is up.

    No ``Exception``: torch would take it for a failure that it can go on from.
    """


class CompileLimit:
    """Ends any compilation that takes longer than a limit.

    In the main thread it interrupts whatever the compilation does or waits for. In other
    threads, which Python cannot interrupt, it only ends the compiler's processes.
    """

    def __init__(self, limit_s: float) -> None:
        """Watch all compilations of this process, until ``close``.

        Raises:
            CompilerError: This torch does not tell when it compiles.
        """
        self.limit_s = limit_s
        """Seconds that one compilation may take."""

        self.expired = False
        """Whether the last compilation took too long."""

        self._began_at = 0.0
        self._timer: threading.Timer | None = None
        self._callbacks = needed("torch._dynamo.callback:callback_handler")
        self._callbacks.register_start_callback(self._begin)
        self._callbacks.register_end_callback(self._end)

    def close(self) -> None:
        """Watch no more. Twice is once."""
        if self._begin in self._callbacks.start_callbacks:
            self._callbacks.remove_start_callback(self._begin)
            self._callbacks.remove_end_callback(self._end)

    def _begin(self, _args: object) -> None:
        self.expired = False
        self._began_at = process_clock_s()
        in_main_thread = threading.current_thread() is threading.main_thread()
        if in_main_thread:
            # Stays: a signal that comes late must find somebody, or it ends the process.
            signal.signal(_SIGNAL, self._interrupt)
        self._timer = threading.Timer(self.limit_s, self._expire, [in_main_thread])
        self._timer.daemon = True
        self._timer.start()

    def _end(self, _args: object) -> None:
        timer, self._timer = self._timer, None
        if timer is None:
            return
        timer.cancel()
        timer.join()
        if self.expired:
            _end_compilers_for_good(since=self._began_at)

    def _expire(self, in_main_thread: bool) -> None:  # noqa: FBT001  argument of a Timer
        self.expired = True
        _end_compilers(since=self._began_at)
        main_thread = threading.main_thread().ident
        if in_main_thread and main_thread is not None:
            signal.pthread_kill(main_thread, _SIGNAL)

    def _interrupt(self, _number: int, _frame: FrameType | None) -> None:
        if self._timer is not None:
            raise CompileTookTooLong


def process_clock_s() -> float:
    """Return the time by which processes are dated: from a boot at a whole second.

    It is up to a second behind ``time.time``.
    """
    return float(psutil.boot_time()) + time.clock_gettime(time.CLOCK_BOOTTIME)


def _end_compilers(*, since: float) -> None:
    """End the compilers that this process started, and theirs.

    Args:
        since: When the compilation began, as ``process_clock_s`` has it. Data workers are
            forks of this process, and what the script started is older.
    """
    here = psutil.Process()
    for child in here.children():
        try:
            if child.create_time() >= since - _CLOCK_TICK_S and child.exe() != here.exe():
                for process in (*child.children(recursive=True), child):
                    process.kill()
        except psutil.Error:  # it has ended by itself
            continue


def _end_compilers_for_good(*, since: float) -> None:
    """Start none of the compilers that wait for their turn, and end what runs.

    A thread that was about to start one does so even now: so they are ended until all threads
    have given up.

    Args:
        since: As for ``_end_compilers``.
    """
    _end_compilers(since=since)
    pool = optional("torch._inductor.async_compile:AsyncCompile.pool")
    if pool is None or not pool.cache_info().currsize:
        return
    threads = pool()
    pool.cache_clear()
    threads.shutdown(wait=False, cancel_futures=True)
    waiting = threading.Thread(target=threads.shutdown, daemon=True)
    waiting.start()
    deadline_s = time.monotonic() + _GIVING_UP_S
    while waiting.is_alive() and time.monotonic() < deadline_s:
        waiting.join(_CLOCK_TICK_S)
        _end_compilers(since=since)
