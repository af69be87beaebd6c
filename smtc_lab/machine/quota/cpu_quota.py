"""CPU quota of one instance's process tree, through the first mechanism that works here."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Protocol

from smtc_lab.machine.quota.cgroups import CgroupV1, CgroupV2
from smtc_lab.machine.quota.duty_cycle import DutyCycle

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from smtc_lab.machine.quota.duty_cycle import Outside
    from smtc_lab.machine.quota.throttling import Throttling

MECHANISM_VARIABLE = "SMTC_CPU_QUOTA"
"""Environment variable that forces a mechanism by its name, for trying each of them."""


class CpuQuota(Protocol):
    """A limit on the CPU time of a process tree.

    ``join`` runs in the child before it becomes the entry point, the rest in the agent. Until
    ``limit`` is called nothing is limited, but what is used is counted.
    """

    name: str
    """What results call this mechanism."""

    member_files: tuple[Path, ...]
    """Files that take the number of a process in, which puts it under this quota, and all that
    it starts later. Empty: all processes below the agent are, but those that were left out."""

    def join(self) -> None:
        """Put the calling process, and all it starts later, under this quota."""
        ...

    def limit(self, cores: float) -> None:
        """Let the tree use at most ``cores`` cores from now on; above 0."""
        ...

    def lift(self) -> None:
        """Let the tree use what it can again; safe to call where nothing is limited."""
        ...

    def pids(self) -> list[int]:
        """Return the living processes of the tree."""
        ...

    def used_s(self) -> float | None:
        """Return the CPU time used by the tree in seconds; None: ask the threads."""
        ...

    def throttling(self) -> Throttling:
        """Return how often the quota held the tree back so far."""
        ...

    def close(self) -> None:
        """Give back what the quota took; the tree has ended."""
        ...


MECHANISMS: dict[str, Callable[[str, Outside], CpuQuota]] = {
    "cgroup-v2": lambda tree_name, _: CgroupV2(tree_name),
    "cgroup-v1": lambda tree_name, _: CgroupV1(tree_name),
    "duty-cycle": DutyCycle,
}
"""By name, best first. Each takes the tree's name and what is left out, as ``open_quota``, and
raises OSError where it cannot work."""


def open_quota(tree_name: str, outside: Outside = tuple) -> CpuQuota:
    """Return the first mechanism that works on this machine, tried by using it.

    Args:
        tree_name: Name of the tree, unique on this machine: run and host.
        outside: Returns the processes below this one that the quota is not for. (In control
            groups those are that join none.)

    Raises:
        OSError: The mechanism that ``SMTC_CPU_QUOTA`` forces does not work here.
    """
    forced = os.environ.get(MECHANISM_VARIABLE)
    if forced:
        if forced not in MECHANISMS:
            raise OSError(
                f"{MECHANISM_VARIABLE}={forced!r} is no CPU quota mechanism. Choose among "
                f"{', '.join(MECHANISMS)}, or unset it."
            )
        return MECHANISMS[forced](tree_name, outside)
    for mechanism in (CgroupV2, CgroupV1):
        try:
            return mechanism(tree_name)
        except OSError:
            continue
    return DutyCycle(tree_name, outside)
