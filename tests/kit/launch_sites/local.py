"""This machine."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, ClassVar, Literal, Self

from smtc_lab.launchers.local.launcher import LocalLauncher
from tests.kit.launch_sites.site import pid_of_agent

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from smtc_lab.launchers.run import Run


class LocalSite:
    """The local launcher, on this machine."""

    name: ClassVar[str] = "local"
    address = ""

    @classmethod
    @contextmanager
    def opened(cls) -> Iterator[Self]:
        """There is nothing to start."""
        yield cls()

    @classmethod
    def joined(cls, address: str) -> Self:
        """There is only one."""
        del address
        return cls()

    def launcher(self, root: Path) -> LocalLauncher:
        """Return a local launcher."""
        return LocalLauncher(root=root)

    def pid(self, run: Run, what: Literal["script", "agent"], *, host: str) -> int:
        """Return a process of an instance of a run."""
        return pid_of_agent(run.job_name, what, host=host)
