"""A peer: one way to bring batches from server processes to this one."""

from __future__ import annotations

import multiprocessing
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from smtc_lab.errors import RunFailedError
from smtc_lab.machine.processes import die_with_parent

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager
    from multiprocessing.connection import Connection

    from notebooks.benchmarks.dataservice.payloads import Batch, Payload

LOOPBACK = "127.0.0.1"
_START_S = 300
_END_S = 10


@dataclass(frozen=True, kw_only=True, slots=True)
class Peer:
    """One way to bring batches from server processes to this one."""

    name: str
    """What tables and figures call it."""

    deliver: Callable[[Payload], AbstractContextManager[Iterator[Batch]]]
    """Starts the servers as descendants of this process, and ends them on leaving.

    The batches come without end, as ready tensors, from number 0 in order. A batch may be
    overwritten when the next one is asked for.
    """

    modules: tuple[str, ...] = ()
    """What must be installed, by import name."""

    def missing(self) -> str | None:
        """Return a module that it needs and that is not installed; None: all are there."""
        return next((name for name in self.modules if not _is_installed(name)), None)


def _is_installed(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # the package around it is not installed
        return False


@contextmanager
def forked_server(serve: Callable[[Callable[[object], None]], None]) -> Iterator[Any]:
    """Run ``serve`` in a forked process; yield what it announces once clients may come.

    Fork before libraries that start threads are used: their threads are not forked with them.

    Args:
        serve: Gets the function that announces; runs until SIGTERM.

    Raises:
        RunFailedError: The process ended, or announced nothing within five minutes.
    """
    context = multiprocessing.get_context("fork")
    heard, told = context.Pipe(duplex=False)
    process = context.Process(target=_run, args=(serve, told))
    process.start()
    told.close()
    try:
        yield _announced(heard)
    finally:
        heard.close()
        process.terminate()
        process.join(_END_S)
        process.kill()
        process.join()


def _run(serve: Callable[[Callable[[object], None]], None], told: Connection) -> None:
    die_with_parent()
    with suppress(ConnectionError):  # the client may go first
        serve(told.send)


def _announced(heard: Connection) -> object:
    try:
        if heard.poll(_START_S):
            return heard.recv()
    except EOFError:
        raise RunFailedError(
            "A server process ended before it was ready. Look at what it wrote to stderr."
        ) from None
    raise RunFailedError(
        f"A server process was not ready within {_START_S} s. Use a machine with less load."
    )
