"""What one instance of a job will be: planned by a launcher, kept in ``plan.json``."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from smtc_lab.spec.cluster import Role, Runs


_HOST = re.compile(r"[A-Za-z0-9-]{1,80}")
_RANKS = range(1_000)

LEAVE_S = 10.0
"""How long a script has to end by itself once nothing more is asked of it, in seconds: after
the job's last step, and on a data instance once all trainers have ended well. Then it is ended,
and the job is complete all the same."""


@dataclass(frozen=True, kw_only=True)
class InstancePlan:
    """What one instance of a job will be."""

    host: str
    """``algo-1``, ``algo-2``, …"""

    address: str
    """Address that the instance listens on; loopback on the local launcher."""

    instance_group_name: str
    """Its group."""

    instance_type: str
    """Its type."""

    role: Role
    """What it does."""

    runs: Runs | None = None
    """``script``: it is a data instance that runs the entry point, with a data server of its
    own. None: trainers run it, data instances serve those."""

    cpu_quota_cores: float | None
    """Cores of this machine that stand for it; None: no limit."""

    vcpus: int | None = None
    """vCPUs that those stand for; None: nothing is emulated."""

    threads_per_core: int | None = None
    """vCPUs of one physical core; None: not known, or nothing is emulated."""

    vcpu_cores: float | None = None
    """Cores of this machine that each of its data workers may use, as one of its vCPUs; None:
    they stand for all of them, or nothing is emulated."""

    passes_outside_quota: bool = False
    """Whether its trainers' own processes compute without that limit, in place of a device."""

    num_cpus: int
    """What it takes for its number of CPUs."""

    num_workers: int
    """Data workers on it; where it has several trainers, of each of them."""

    rank: int | None
    """Rank of its first trainer; None: it has none."""

    num_trainers: int = 1
    """Trainers on it, with the ranks from ``rank`` on; counts only where it has one."""

    devices: Sequence[int] | None = None
    """Accelerators of its machine that it has; None: all that there are."""

    @property
    def serves_loaders(self) -> bool:
        """Whether it serves dataloaders of trainers."""
        return self.role == "data" and self.runs is None

    @property
    def ranks(self) -> range:
        """Ranks of its trainers; empty: it has none."""
        return planned_ranks({"rank": self.rank, "num_trainers": self.num_trainers})


def runs_script(instance: Mapping[str, Any]) -> bool:
    """Return whether a data instance runs the script, and serves no loader.

    Args:
        instance: One of ``instances`` in ``plan.json``; of an old run it does not say.
    """
    return instance.get("runs") == "script"


def planned_ranks(instance: Mapping[str, Any]) -> range:
    """Return the ranks of an instance's trainers; empty: it has none.

    Args:
        instance: One of ``instances`` in ``plan.json``; of an old run it says ``rank`` only.
    """
    first = instance.get("rank")
    return range(0) if first is None else range(first, first + instance.get("num_trainers", 1))


def is_planned(instance: object) -> bool:
    """Return whether what ``plan.json`` calls an instance can be one.

    Args:
        instance: One of ``instances`` in a file that may be anybody's.
    """
    host = instance.get("host") if isinstance(instance, dict) else None
    if not (isinstance(instance, dict) and isinstance(host, str) and _HOST.fullmatch(host)):
        return False
    first, num_trainers = instance.get("rank"), instance.get("num_trainers", 1)
    return (first is None or (type(first) is int and first in _RANKS)) and (
        type(num_trainers) is int and num_trainers in _RANKS
    )


def log_ranks(ranks: Sequence[int]) -> tuple[int | None, ...]:
    """Return by which ranks the logs of an instance are called; None: by its name alone.

    Args:
        ranks: Ranks of its trainers.
    """
    return tuple(ranks) if len(ranks) > 1 else (None,)
