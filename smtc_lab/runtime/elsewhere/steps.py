"""Steps of the job's script in another environment, on the batches of this process."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smtc_lab.compiler.choosing.patience import Patience, how_it_ended
from smtc_lab.dataservice.protocol.receiver import Receiver, receive_one
from smtc_lab.dataservice.protocol.transport import PlainTransport, send_all
from smtc_lab.dataservice.protocol.wire import Kind, pack
from smtc_lab.errors import CompilerError, DataServiceError, ProtocolError
from smtc_lab.instance.variables import (
    COMPILER_VARIABLE,
    DATA_HOSTS_VARIABLE,
    MEASURE_VARIABLE,
    PARITY_STEPS_VARIABLE,
    PERMUTES_VARIABLE,
    READY_VARIABLE,
    SERVED_VARIABLE,
)
from smtc_lab.machine.environments.shown_package import python_path
from smtc_lab.machine.environments.xla_environment import XLA_ENVIRONMENT_VARIABLE
from smtc_lab.machine.processes import descendants, send_signal

if TYPE_CHECKING:
    from collections.abc import Callable

    from smtc_lab.machine.environments.xla_environment import XlaEnvironment
    from smtc_lab.runtime.elsewhere.started import Started

_OF_THE_RUN = (
    DATA_HOSTS_VARIABLE,
    MEASURE_VARIABLE,
    PARITY_STEPS_VARIABLE,
    PERMUTES_VARIABLE,
    READY_VARIABLE,
    XLA_ENVIRONMENT_VARIABLE,
)
"""Variables by which a process asks data servers, or says that it is ready. The run's folder
stays among the others: by it whoever looks for a run's processes finds them."""

_OUTPUTS = ("output", "model")
"""Folders below ``/opt/ml`` that a script writes into."""


class StepsElsewhere:
    """Training steps in a child that has started the script anew, in another environment.

    What the child prints goes nowhere, what it writes to the job's outputs and checkpoints is
    thrown away. It ends with this process, and is the first to go when memory runs out.
    """

    def __init__(
        self,
        environment: XlaEnvironment,
        start: Started,
        *,
        settings: str,
        started: Callable[[float, str], None],
    ) -> None:
        """Prepare; nothing is started before the first step.

        Args:
            environment: Where the script is started.
            start: How this process was started.
            settings: The child's compiler settings, as JSON.
            started: Called with the seconds from the child's start to its first step, and with
                what the environment is called.
        """
        self._environment = environment
        self._start = start
        self._settings = settings
        self._started = started
        self._child: _Child | None = None
        self._is_closed = False
        self.refused: str | None = None
        """Why no further step is taken; None: nobody has a reason against it."""

    def take(self, batch: Any, *, limit_s: float) -> float:  # noqa: ANN401  whatever the dataset collates to
        """Take one step on a batch; return the seconds that it took.

        Raises:
            CompilerError: It is refused; or the batch cannot be sent; or the script did not
                come as far as its first step; or the step failed, took too long, or ended its
                process.
        """
        if self.refused is not None:
            raise CompilerError(self.refused)
        assert not self._is_closed  # noqa: S101  whoever closed it asks no more
        try:
            message = pack(Kind.BATCH, 0, batch)
        except DataServiceError as error:
            what = str(error).partition(". ")[0]
            raise CompilerError(
                f"its batches cannot be sent to its environment: {what}"
            ) from error
        if self._child is None:
            began_s = time.perf_counter()
            try:
                self._child = _Child(self._environment, self._start, self._settings)
            except OSError as error:
                raise CompilerError(f"its environment does not start: {error}") from error
            version = self._child.answer(limit_s)["torch"]
            self._started(time.perf_counter() - began_s, f"XLA's environment (torch {version})")
        self._child.send(message)
        answer = self._child.answer(limit_s)
        if answer["problem"] is not None:
            raise CompilerError(answer["problem"])
        return float(answer["seconds"])

    def close(self) -> None:
        """End the child and what it has started. Twice is once."""
        self._is_closed = True
        if self._child is not None:
            self._child.close()
            self._child = None


class _Child:
    """The process in the other environment."""

    def __init__(self, environment: XlaEnvironment, start: Started, settings: str) -> None:
        self._connection, theirs = socket.socketpair()
        self._transport = PlainTransport(self._connection)
        self._receiver = Receiver(self._transport)
        self._last_words = os.memfd_create("smtc-last-words")
        self._folder = _Outputs(start.environment.get("SAGEMAKER_BASE_DIR"))
        kept = {name: it for name, it in start.environment.items() if name not in _OF_THE_RUN}
        variables = {
            **self._folder.redirected(kept),
            "PYTHONPATH": python_path(environment.path, kept),
            COMPILER_VARIABLE: settings,
            SERVED_VARIABLE: f"{theirs.fileno()} {os.getpid()}",
        }
        try:
            self._process = subprocess.Popen(  # noqa: S603  the job's own script
                [environment.python, *start.command],
                env=variables,
                cwd=start.folder,
                stdin=subprocess.DEVNULL,
                stdout=self._last_words,
                stderr=self._last_words,
                pass_fds=[theirs.fileno()],
            )
        except OSError:
            self._let_go()
            raise
        finally:
            theirs.close()
        with suppress(OSError):  # it has ended already
            Path(f"/proc/{self._process.pid}/oom_score_adj").write_text("1000")
        self._end = os.pidfd_open(self._process.pid)
        self._patience = Patience(self._process.pid)

    def send(self, message: list[memoryview]) -> None:
        """Send a message.

        Raises:
            CompilerError: The process has ended.
        """
        try:
            send_all(self._transport, message)
        except OSError:
            raise CompilerError(self._why_it_ended()) from None

    def answer(self, limit_s: float) -> dict[str, Any]:
        """Return its next message.

        Raises:
            CompilerError: It took longer than ``limit_s`` seconds, or the process has ended.
        """
        self._patience.wait([self._connection, self._end], limit_s=limit_s)
        try:
            frame = receive_one(self._receiver, self._transport, timeout_s=0.0)
        except (OSError, ProtocolError):  # it ended in the middle of a message
            frame = None
        if frame is None or not isinstance(frame.value, dict):
            raise CompilerError(self._why_it_ended())
        return frame.value

    def close(self) -> None:
        """End the process and what it has started."""
        below = descendants(self._process.pid)
        self._process.kill()
        send_signal(below, signal.SIGKILL)
        self._process.wait()
        os.close(self._end)
        self._let_go()

    def _let_go(self) -> None:
        self._connection.close()
        os.close(self._last_words)
        self._folder.remove()

    def _why_it_ended(self) -> str:
        self._process.kill()  # it may have closed the socket alone
        return how_it_ended(self._process.wait(), self._last_words)


class _Outputs:
    """A folder that looks like the job's ``/opt/ml``, and takes what a script writes there."""

    def __init__(self, base: str | None) -> None:
        self._base = base
        self._folder = Path(tempfile.mkdtemp(prefix="auto-xla-", dir=base))
        for name in _OUTPUTS:
            (self._folder / name / "data").mkdir(parents=True)
        if base is not None:
            (self._folder / "input").symlink_to(Path(base, "input"))

    def redirected(self, variables: dict[str, str]) -> dict[str, str]:
        """Return the variables of a job, with its outputs in this folder."""
        if self._base is None:
            return variables
        ours = {}
        for name, value in variables.items():
            for output in _OUTPUTS if name.startswith("SM_") else ():
                value = value.replace(f"{self._base}/{output}", f"{self._folder}/{output}")  # noqa: PLW2901  step by step
            ours[name] = value
        return {**ours, "SAGEMAKER_BASE_DIR": str(self._folder)}

    def remove(self) -> None:
        """Throw away what was written."""
        shutil.rmtree(self._folder, ignore_errors=True)
