"""Processes of a run that are forked from one that has imported for them, and what forks them.

Who wants them starts a process with a ``Forker``. That one imports what they need, calls
``fork_each``, and is gone before the first of them runs: their parent is then who wanted them.
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import select
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smtc_lab.instance.variables import FORKED_SETTING
from smtc_lab.machine.processes import tells_of_ends

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Collection, Mapping, Sequence

    from smtc_lab.instance.description import InstanceDescription

_RUNS_A_SCRIPT = ("-m", "smtc_lab.runtime.run_script")


class Forker:
    """A process that forks others, as the one that has started it sees it."""

    def __init__(
        self,
        values: Mapping[str, Any],
        start: Callable[[str, list[int]], subprocess.Popen[bytes]],
    ) -> None:
        """Start it.

        Args:
            values: What it is told, as JSON; besides, ``say``, a descriptor for ``fork_each``,
                and ``parent``, the number of this process.
            start: Starts it, given the descriptor of a file that holds this, as its argument,
                and what it has to inherit.

        Raises:
            OSError: It cannot be started.
        """
        self.numbers: list[int] | None = None
        """Numbers of the forked processes; None: they are not forked yet."""
        self.failed_with: int | None = None
        """Exit code with which it ended before it had forked them; None: it did not."""
        self._codes: dict[int, int] = {}
        self._said, say = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        descriptor = os.memfd_create("forked")
        try:
            told = {**values, "say": say, "parent": os.getpid()}
            os.write(descriptor, json.dumps(told).encode())
            os.lseek(descriptor, 0, os.SEEK_SET)
            self._process = start(str(descriptor), [descriptor, say])
        finally:
            os.close(descriptor)
            os.close(say)

    def collect(self, codes: Mapping[int, int]) -> dict[int, int]:
        """Return exit codes of processes, once it is known which of them were forked.

        Args:
            codes: Exit codes of processes that have ended since the last call.
        """
        self._codes |= codes
        if self.numbers is None and self.failed_with is None:
            self._hear()
        if self.numbers is None and self.failed_with is None:
            return {}
        found, self._codes = self._codes, {}
        return found

    def _hear(self) -> None:
        try:
            said = os.read(self._said, 65536)
        except BlockingIOError:
            return
        if said:
            self.numbers = json.loads(said)
        elif self._process.pid in self._codes:
            self.failed_with = self._codes[self._process.pid] or 1
        else:  # its end is yet to be collected
            return
        os.close(self._said)


def fork_each(given: Sequence[dict[str, Any]], say: int) -> dict[str, Any]:
    """Fork a process for each, say their numbers and end; return in each which one it is.

    It is then in a session of its own, and the child of who had this one started.
    """
    forking = os.pidfd_open(os.getpid())
    numbers = []
    for each in given:
        number = os.fork()
        if number == 0:
            os.setsid()
            os.close(say)
            select.select([forking], [], [])  # what forked this one is gone
            os.close(forking)
            return each
        numbers.append(number)
    os.write(say, json.dumps(numbers).encode())
    os._exit(0)  # nothing else is open here


def can_be_forked(told: InstanceDescription) -> bool:
    """Return whether entry points may be forked from a process that has imported for them."""
    given = {**os.environ, **told.environment}
    return (
        told.command[1:3] == _RUNS_A_SCRIPT
        and len(told.command) == 4
        and given.get(FORKED_SETTING) != "0"
        and tells_of_ends()
    )


def can_take_threads() -> bool:
    """Return whether libraries that are loaded can be given another number of threads."""
    return importlib.util.find_spec("threadpoolctl") is not None


def be_called(name: str) -> None:
    """Have this process called so in lists of processes; the first 15 bytes count."""
    with contextlib.suppress(OSError):
        Path("/proc/self/comm").write_text(name, encoding="utf-8")


def print_to(log: str) -> None:
    """Let standard output and errors of this process be appended to a file.

    Raises:
        OSError: It cannot be opened.
    """
    descriptor = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
    for stream in (1, 2):
        os.dup2(descriptor, stream)
    os.close(descriptor)


def close_but_for(kept: Collection[int]) -> None:
    """Close all descriptors of this process but some."""
    begin = 0
    for number in [*sorted(kept), os.sysconf("SC_OPEN_MAX")]:
        if begin < number:  # Python 3.11 closes all from begin on where there are none
            os.closerange(begin, number)
        begin = number + 1
