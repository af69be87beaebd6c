"""One instance of the fake: a container as a process tree with an ``/opt/ml`` of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from typing import TYPE_CHECKING

from smtc_lab.machine.processes import processes_with_variable, send_signal

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

_CONTAINER = "FAKE_SAGEMAKER_CONTAINER"
"""Variable that every process of a container carries, with the container's own folder."""


class Container:
    """A container: what is started in it, what it prints, how it is ended.

    Args:
        base: The folder that stands for ``/opt/ml``.
        command: The image's entry point.
        environment: All of its variables.
        on_line: Gets each line that it prints, from a thread.
        on_end: Called from that thread when it has ended.
    """

    def __init__(
        self,
        base: Path,
        *,
        command: Sequence[str],
        environment: Mapping[str, str],
        on_line: Callable[[str], None],
        on_end: Callable[[], None],
    ) -> None:
        self._base = base
        self._on_line = on_line
        self._on_end = on_end
        self.exit_code: int | None = None
        """Exit code of its entry point, 128 + n for signal n; None: it runs."""
        self._process = subprocess.Popen(  # noqa: S603  what the request says, as the platform does
            [_inside(base, part) for part in command],
            env={**environment, _CONTAINER: str(base)},
            cwd=base,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def terminate(self) -> None:
        """Ask it to end: a signal to its first process, as container engines send it."""
        if self.exit_code is None:
            self._process.terminate()

    def kill(self) -> None:
        """End every process of it."""
        while members := [
            pid
            for pid in processes_with_variable(_CONTAINER, str(self._base))
            if pid != os.getpid()
        ]:
            send_signal(members, signal.SIGKILL)
            if self._process.pid in members:
                self._process.wait()

    def join(self) -> None:
        """Wait for its end."""
        self._thread.join()

    def _run(self) -> None:
        assert self._process.stdout is not None  # noqa: S101  it is a pipe
        reader = threading.Thread(target=self._read, daemon=True)
        reader.start()
        code = self._process.wait()
        self.kill()  # whatever its first process has left ends with it
        reader.join()
        self.exit_code = code if code >= 0 else 128 - code
        self._on_end()

    def _read(self) -> None:
        assert self._process.stdout is not None  # noqa: S101  it is a pipe
        for line in self._process.stdout:
            self._on_line(line.decode("utf-8", errors="replace").rstrip("\n"))


def _inside(base: Path, part: str) -> str:
    """Return a part of a command with the folder that stands for ``/opt/ml``."""
    return part.replace("/opt/ml/", f"{base}/", 1) if part.startswith("/opt/ml/") else part
