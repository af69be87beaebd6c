"""Steps in a forked copy of this process, which leave this one as it is.

A compiler that was tried leaves its process changed for good, whatever is kept. On one core of
an Intel Xeon, eager steps of ResNet-18 took 1 to 12 % more CPU time after XLA had been tried in
their process, and 3 to 4 % more after Inductor; after both had been tried in a copy of it, what
they took before, within the differences between starts.
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import sys
import threading
import time
import warnings
from multiprocessing.connection import wait
from typing import TYPE_CHECKING, Any, NoReturn

import torch
from torch import distributed

from smtc_lab.compiler.xla.move import map_tensors
from smtc_lab.compiler.xla.setup import device_kind
from smtc_lab.errors import CompilerError
from smtc_lab.machine.processes import TreeClock, descendants, die_with_parent, send_signal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from multiprocessing.connection import Connection

    from smtc_lab.compiler.step import CompiledStep


_LOOK_S = 1.0
"""Between two looks at a process that takes a step."""

IDLE_LIMIT_S = 60.0
"""After this long without work, a process waits for what never comes: for a lock, say, that
another thread held when it was forked."""

_IDLE_SHARE = 0.01
"""Share of one core below which a process does no work: a watch in it may still tick."""


def tried_apart(
    backends: Iterable[str], device: torch.device, *, cache: bool
) -> dict[str, float]:
    """Return the backends that can take steps in a copy of this process.

    With each, the share of its compile time that it takes again in this process.

    Args:
        backends: Those that are asked for; with XLA, torch_xla is imported.
        device: Of the model.
        cache: Whether Inductor keeps what it compiled, and compiles it in a quarter of the
            time or less.
    """
    has_group = distributed.is_available() and distributed.is_initialized()
    if sys.platform != "linux" or has_group or device.type != "cpu":
        return {}
    if torch.cuda.is_initialized():  # type: ignore[no-untyped-call]  # torch's own
        return {}
    again = {"inductor": 0.25 if cache else 1.0}
    if device_kind() == "xla:CPU":  # no two processes can use one TPU
        again["xla"] = 1.0
    return {name: again[name] for name in backends if name in again}


class StepsApart:
    """Training steps in a copy of this process, as it was when this was made.

    What the copy prints, or writes to files that were open, goes nowhere. It ends with this
    process, and is the first to go when memory runs out.
    """

    def __init__(self, make: Callable[[], CompiledStep]) -> None:
        """Copy this process; of its threads, the calling one alone goes on in the copy.

        Args:
            make: Makes the step; called in the copy, before its first step.
        """
        context = multiprocessing.get_context("fork")
        self._connection, theirs = context.Pipe()
        self._last_words = os.memfd_create("smtc-last-words")
        self._process = context.Process(
            target=_serve, args=(theirs, self._last_words, make), daemon=True
        )
        with warnings.catch_warnings():  # Python warns of forking beside threads
            warnings.simplefilter("ignore", DeprecationWarning)
            self._process.start()
        theirs.close()
        self._patience = _Patience(self._process.pid or 0)

    def take(self, batch: Any, *, limit_s: float) -> float:  # noqa: ANN401  whatever the dataset collates to
        """Take one step on a batch; return the seconds that it took.

        Args:
            batch: As the step takes it; on the host.
            limit_s: How long it may take at most, in seconds.

        Raises:
            CompilerError: The step failed, took too long, or ended its process.
        """
        try:
            with torch.no_grad():  # a view would be sent with all that it is a view of
                sent = pickle.dumps(map_tensors(torch.clone, batch))
        except (pickle.PicklingError, TypeError, AttributeError) as error:
            raise CompilerError(
                f"its batches cannot be sent to the process where it is tried ({error})"
            ) from error
        try:
            self._connection.send_bytes(sent)
            self._patience.wait([self._connection], limit_s=limit_s)
            answer = self._connection.recv_bytes()
        except (EOFError, OSError):
            raise CompilerError(self._why_it_ended()) from None
        problem, seconds = pickle.loads(answer)  # noqa: S301  from a copy of this process
        if problem is not None:
            raise CompilerError(problem)
        return float(seconds)

    def close(self) -> None:
        """End the copy and what it has started. Twice is once."""
        if self._connection.closed:
            return
        # first, as a copy that hears of the end leaves at once, and its compilers are orphans
        started = descendants(self._process.pid or 0)
        self._connection.close()
        os.close(self._last_words)
        self._process.kill()
        send_signal(started, signal.SIGKILL)
        self._process.join()
        self._process.close()

    def _why_it_ended(self) -> str:
        """Return what is known of the end of the copy, in one sentence."""
        self._process.join()
        return _how_it_ended(self._process.exitcode or 0, self._last_words)


class _Patience:
    """Waits for the answers of one process."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._clock = TreeClock()

    def wait(self, readable: Sequence[Any], *, limit_s: float) -> None:
        """Return when something can be read.

        Args:
            readable: Connections, sockets or descriptors; one of them is enough.
            limit_s: How long it may take at most, in seconds.

        Raises:
            CompilerError: It took longer, or the process does nothing any more.
        """
        began_s = idle_since_s = time.monotonic()
        worked_s = 0.0
        while not wait(readable, _LOOK_S):
            now_s, before_s = time.monotonic(), worked_s
            worked_s = sum(self._clock.look([self._pid, *descendants(self._pid)]))
            if worked_s - before_s > _IDLE_SHARE * _LOOK_S:
                idle_since_s = now_s
            if now_s - began_s > limit_s:
                raise CompilerError(f"a step, compiling in, took longer than {limit_s:.3g} s")
            if now_s - idle_since_s > IDLE_LIMIT_S:
                raise CompilerError(
                    f"the process where it is tried has done nothing for {IDLE_LIMIT_S:g} s"
                )


def _how_it_ended(code: int, last_words: int) -> str:
    """Return what is known of the end of a process, in one sentence.

    Args:
        code: Its exit code; below 0: minus the signal that ended it.
        last_words: Descriptor of the file that it wrote to.
    """
    os.lseek(last_words, 0, os.SEEK_SET)
    with os.fdopen(os.dup(last_words), errors="replace") as file:
        lines = [line.strip() for line in file if line.strip()]
    how = f"by {signal.Signals(-code).name}" if code < 0 else f"with code {code}"
    last = f": {lines[-1]}" if lines else ""
    return f"the process where it was tried was ended {how}{last}"


def _serve(
    connection: Connection, last_words: int, make: Callable[[], CompiledStep]
) -> NoReturn:
    """Take steps until the other end is closed; never returns into the script."""
    try:
        die_with_parent()
        _let_go(connection.fileno(), last_words)
        # A new thread: the OpenMP threads that belong to this one were not copied.
        server = threading.Thread(target=_take_steps, args=(connection, make))
        server.start()
        server.join()
    finally:
        os._exit(0)


def _let_go(connection: int, last_words: int) -> None:
    """Part from everything that the script has open, and from its signals."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the script hears it, and ends this process
    null = os.open(os.devnull, os.O_RDWR)
    for name in os.listdir("/proc/self/fd"):  # noqa: PTH208  names of numbers
        if int(name) not in {connection, last_words, null}:
            os.dup2(null, int(name))  # objects that hold the number stay harmless
    os.dup2(last_words, 2)
    with open("/proc/self/oom_score_adj", "w") as file:  # noqa: PTH123  a file of the kernel
        file.write("1000")


def _take_steps(connection: Connection, make: Callable[[], CompiledStep]) -> None:
    step = None
    while True:
        try:
            batch = pickle.loads(connection.recv_bytes())  # noqa: S301  from the process it copies
        except EOFError:
            return
        began_s = time.perf_counter()
        problem = None
        try:
            step = step or make()
            step(batch)
            step.wait()
        except Exception as error:  # noqa: BLE001  the script's own too: eager steps raise them
            known = isinstance(error, CompilerError)
            problem = str(error) if known else f"{type(error).__name__}: {error}"
        connection.send_bytes(pickle.dumps((problem, time.perf_counter() - began_s)))
