"""What a test needs of a place that a launcher is tried on."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal, Protocol, Self

from tests.kit.runs import log_of, processes_of_job

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from smtc_lab.launchers.launcher import Launcher
    from smtc_lab.launchers.run import Run


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


def pid_of_agent(job_name: str, what: Literal["script", "agent"], *, host: str) -> int:
    """Return the process of an instance that runs our agent.

    Raises:
        LookupError: It is not there.
    """
    for pid, command in processes_of_job(job_name).items():
        is_agent = "smtc_lab.runtime.agent" in command and f"/{host}/agent.json" in command
        is_agent |= log_of(pid) == f"{host}.agent.log" and "forked" in command
        if what == "agent" and is_agent:
            return pid
        if what == "script" and "run_script" in command and _host_of(pid) == host:
            return pid
    raise LookupError(f"There is no {what} of {host} of job {job_name!r}.")


def _host_of(pid: int) -> str:
    environment = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    known = [item for item in environment if item.startswith(b"SM_CURRENT_HOST=")]
    return known[0].split(b"=", 1)[1].decode() if known else ""
