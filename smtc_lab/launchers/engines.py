"""The engines that runs are carried out by: a table entry each.

Nothing above this package asks for an engine's name. What has to be known of it stands here or
comes with its plans; an old run's engine is looked up by the name in its folder.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Final

from smtc_lab.errors import LauncherError
from smtc_lab.machine.installed import brought, entries


@dataclass(frozen=True, kw_only=True)
class Engine:
    """What an engine brings. Code is named as ``module:name``, and loaded on use."""

    launcher: str
    """Class of its launcher."""

    supervise: str
    """Function that supervises a run to its end, in a process of its own. It is called with the
    run's folder, what ``plan.json`` holds, and ``detached=``.
    """

    runs_here: bool = False
    """Whether its instances are processes of this machine, and share what it has."""

    takes_instances: bool = False
    """Whether its launcher can take the instances of a run away, as a spot market does."""

    tuning_request: str = ""
    """Function that makes the request of a whole search; empty: its trials are launched one by
    one, as any run. It is called with the job, what is asked, ``catalog=`` and the launcher's
    settings.
    """

    is_billed: bool = False
    """Whether it orders what is paid for; its plans then have an ``Order``, its launcher takes
    ``confirm`` and can check the account."""


THIS_MACHINE: Final = "local"
"""Name of the engine whose instances are processes of this machine. It needs nothing else."""

ENGINES = {
    THIS_MACHINE: Engine(
        launcher="smtc_lab.launchers.local.launcher:LocalLauncher",
        supervise="smtc_lab.launchers.local.instances:supervise",
        runs_here=True,
        takes_instances=True,
    ),
    "ray": Engine(
        launcher="smtc_lab.launchers.on_ray.launcher:RayLauncher",
        supervise="smtc_lab.launchers.on_ray.ray_instances:supervise",
    ),
    "sagemaker": Engine(
        launcher="smtc_lab.launchers.on_sagemaker.launcher:SageMakerLauncher",
        supervise="smtc_lab.launchers.on_sagemaker.supervise:supervise",
        tuning_request="smtc_lab.launchers.on_sagemaker.tuning_request:tuning_request",
        is_billed=True,
    ),
}
"""What ``on=`` takes."""

ENTRY_POINTS = "smtc_lab.engines"
"""Group of entry points by which an installed package brings an ``Engine`` of its own."""


def find_engine(name: str) -> Engine | None:
    """Return the engine of a name; None: it is not known here, as a scheduler's own is not."""
    return ENGINES.get(name) or _installed(name)


def runs_here(name: str) -> bool | None:
    """Return whether an engine's instances are processes of this machine; None: not known."""
    engine = find_engine(name)
    return None if engine is None else engine.runs_here


def takes_instances(name: str) -> bool:
    """Return whether an engine's launcher can take instances away; False also: not known."""
    engine = find_engine(name)
    return engine is not None and engine.takes_instances


def is_billed(name: str) -> bool | None:
    """Return whether an engine orders what is paid for.

    None: it is not known, as on a cluster of which nobody said who pays for it.
    """
    engine = find_engine(name)
    if engine is None:
        return None
    return engine.is_billed or (False if engine.runs_here else None)


def engine_named(name: str) -> Engine:
    """Return the engine of a name.

    Raises:
        LauncherError: There is none.
    """
    engine = find_engine(name)
    if engine is None:
        known = ", ".join([*ENGINES, *sorted(entries(ENTRY_POINTS).names)])
        raise LauncherError(f"There is no launcher {name[:80]!r}. Choose among {known}.")
    return engine


@cache
def _installed(name: str) -> Engine | None:
    return brought(ENTRY_POINTS, name)
