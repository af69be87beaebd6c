"""What a test needs of a place that a launcher is tried on."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal, Protocol, Self

from smtc_lab.launch.supervision import RUN_VARIABLE
from smtc_lab.machine.processes import processes_with_variable

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from smtc_lab.launch.launcher import Launcher
    from smtc_lab.launch.run import Run


class Site(Protocol):
    """A place that a launcher is tried on."""

    name: ClassVar[str]
    """Name of its launcher."""

    address: str
    """By which another process joins it; empty: there is only one."""

    @classmethod
    def opened(cls) -> AbstractContextManager[Self]:
        """Start the place, and end it with everything in it."""
        ...

    @classmethod
    def joined(cls, address: str) -> Self:
        """Return the place that another process has opened."""
        ...

    def launcher(self, root: Path) -> Launcher:
        """Return a launcher whose runs lie in a folder."""
        ...

    def pid(self, run: Run, what: Literal["script", "agent"], *, host: str) -> int:
        """Return a process of an instance of a run."""
        ...


def processes_of_job(job_name: str) -> dict[int, str]:
    """Return the living processes of a job on this machine, with their command lines.

    Each of them carries the folder of its run, which bears the job's name wherever it lies.
    """
    return {
        pid: command_of(pid)
        for pid, folder in processes_with_variable(RUN_VARIABLE).items()
        if pid != os.getpid() and Path(folder).name == job_name
    }


def command_of(pid: int) -> str:
    """Return the command line of a process; empty: it is gone."""
    try:
        text = Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return ""
    return text.replace(b"\0", b" ").decode(errors="replace")


def pid_of_agent(job_name: str, what: Literal["script", "agent"], *, host: str) -> int:
    """Return the process of an instance that runs our agent.

    Raises:
        LookupError: It is not there.
    """
    for pid, command in processes_of_job(job_name).items():
        is_agent = "smtc_lab.runtime.agent" in command and f"/{host}/agent.json" in command
        if what == "agent" and is_agent:
            return pid
        if what == "script" and "run_script" in command and _host_of(pid) == host:
            return pid
    raise LookupError(f"There is no {what} of {host} of job {job_name!r}.")


def _host_of(pid: int) -> str:
    environment = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    known = [item for item in environment if item.startswith(b"SM_CURRENT_HOST=")]
    return known[0].split(b"=", 1)[1].decode() if known else ""
