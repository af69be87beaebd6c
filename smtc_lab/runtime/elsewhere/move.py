"""Becomes the job's script in another environment, and offers steps there before."""

from __future__ import annotations

import atexit
import gc
import os
import signal
import sys
import time
from contextlib import suppress
from multiprocessing import resource_tracker
from typing import TYPE_CHECKING, Any, NoReturn

from torch.utils.data import dataloader

from smtc_lab.compiler.choosing.kept import Kept
from smtc_lab.errors import CompilerError
from smtc_lab.instance.variables import COMPILER_VARIABLE, KEPT_VARIABLE, READY_VARIABLE
from smtc_lab.machine.environments.shown_package import python_path
from smtc_lab.machine.environments.xla_environment import XLA_ENVIRONMENT_VARIABLE
from smtc_lab.machine.processes import end_below
from smtc_lab.runtime.elsewhere.steps import StepsElsewhere

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from smtc_lab.compiler.step import TriedSteps
    from smtc_lab.machine.environments.xla_environment import XlaEnvironment
    from smtc_lab.runtime.elsewhere.started import Started
    from smtc_lab.spec.compiler import TrainingCompilerConfig

_GRACE_S = 5.0
"""How long processes that this one has started may take to end."""


class ScriptElsewhere:
    """The script of this process, in XLA's environment."""

    def __init__(
        self,
        environment: XlaEnvironment,
        start: Started,
        *,
        config: TrainingCompilerConfig,
        num_steps: Callable[[], int],
        close: Callable[[], None],
    ) -> None:
        """Keep what is known; nothing is started yet.

        Args:
            environment: Where XLA is.
            start: How this process was started.
            config: Settings of the job.
            num_steps: Returns the steps that were recorded so far.
            close: Writes what is left of this process's records and reports.
        """
        self._environment = environment
        self._start = start
        self._config = config
        self._num_steps = num_steps
        self._close = close
        self._refused: str | None = None
        self._there: StepsElsewhere | None = None

    def expected_start_s(self) -> float:
        """Return how long the script took here from its start until now, in seconds."""
        return time.perf_counter() - self._start.began_s

    def refuse(self, why: str) -> None:
        """Say why no step can be taken there; a step that is asked for fails from now on."""
        self._refused = why
        if self._there is not None:
            self._there.refused = why

    def steps(self, started: Callable[[float, str], None]) -> TriedSteps:
        """Return steps there; nothing is started before the first of them."""
        settings = self._config.model_copy(
            update={"backend": "xla", "fallback": "error", "debug": False}
        )
        self._there = StepsElsewhere(
            self._environment, self._start, settings=settings.model_dump_json(), started=started
        )
        self._there.refused = self._refused
        return self._there

    def move(self, facts: Mapping[str, Any]) -> NoReturn:
        """Become the script there, from its begin; never returns.

        Raises:
            CompilerError: Its interpreter is gone, and nothing has changed here.
        """
        python = self._environment.python
        if not os.access(python, os.X_OK):
            raise CompilerError(f"the interpreter {python!r} of XLA's environment is gone")
        kept = Kept(
            config=self._config,
            steps=self._num_steps(),
            probes=facts["probes"],
            probe_s=facts["probe_s"],
            chosen_because=facts["chosen_because"],
            moved_s=time.time(),
        )
        variables = {
            **self._start.environment,
            "PYTHONPATH": python_path(self._environment.path, self._start.environment),
            COMPILER_VARIABLE: kept.settings().model_dump_json(),
            KEPT_VARIABLE: kept.model_dump_json(),
        }
        del variables[XLA_ENVIRONMENT_VARIABLE]
        variables.pop(READY_VARIABLE, None)  # it was said
        self._close()
        _end_what_runs_beside()
        _forget_what_is_inherited()
        os.chdir(self._start.folder)
        os.execve(python, [python, *self._start.command], variables)  # noqa: S606  the job's own script


def _end_what_runs_beside() -> None:
    """End data workers, what waits for the interpreter's exit, and every other child."""
    for item in gc.get_objects():
        if issubclass(type(item), dataloader._MultiProcessingDataLoaderIter):  # noqa: SLF001  what holds torch's data workers
            with suppress(Exception):  # a worker that has ended by itself
                item._shutdown_workers()  # noqa: SLF001  as above
    atexit._run_exitfuncs()  # noqa: SLF001  there is no other way to end as at an exit
    tracker: Any = resource_tracker._resource_tracker  # noqa: SLF001  it ends with its users, and hears no signal
    if tracker._fd is not None:  # noqa: SLF001  as above
        os.close(tracker._fd)  # noqa: SLF001  as above
    end_below(grace_s=_GRACE_S)
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):  # the script has closed it
            stream.flush()


def _forget_what_is_inherited() -> None:
    """Let the new program begin as the first one did: no descriptor, timer or mask is left."""
    for name in os.listdir("/proc/self/fd"):  # noqa: PTH208  names of numbers
        if int(name) > 2:
            with suppress(OSError):  # the listing's own
                os.set_inheritable(int(name), False)
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
