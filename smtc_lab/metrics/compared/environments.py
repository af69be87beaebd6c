"""Python environments of compared runs, and what differs between them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from smtc_lab.metrics.parity import ParityResult
from smtc_lab.metrics.result import Result

if TYPE_CHECKING:
    from collections.abc import Sequence

    from smtc_lab.metrics.compared.measured_cluster import MeasuredCluster
    from smtc_lab.metrics.records.recorded_environment import RecordedEnvironment


class EnvironmentResult(Result):
    """The Python environment of one compared cluster."""

    name: str
    """What the job calls it; ``today``: the one that launched."""

    python: str
    """Version of its Python; empty: not known yet."""

    torch: str | None
    """Version of torch; None: it has none, or its Python is not known."""

    parity: ParityResult | None = None
    """Whether the same training comes out as in the first one; None: not checked, or it is
    told of the compiler."""


class PackageDifference(Result):
    """One package whose version differs between the environments of a comparison."""

    package: str
    """Its name; ``python``: Python itself."""

    versions: tuple[str | None, ...]
    """Its version in the environment of each cluster, in their order; None: not installed."""


def environment_of(measured: MeasuredCluster) -> RecordedEnvironment | None:
    """Return the environment of the first launch of a cluster; None: not known."""
    return measured.launches[0].run.environment


def environment_label(measured: MeasuredCluster) -> str:
    """Return name and torch of an environment for people: ``xla (torch 2.9.1)``."""
    environment = environment_of(measured)
    if environment is None:
        return measured.launches[0].run.job.python_environment or "today"
    torch = environment.packages.get("torch")
    return f"{environment.name} (torch {torch})" if torch else environment.name


def environment_results(
    measured: Sequence[MeasuredCluster],
) -> list[EnvironmentResult | None]:
    """Return the environment of each cluster; all None where all have the same one."""
    found = [environment_of(cluster) for cluster in measured]
    if len({None if one is None else one.name for one in found}) < 2:
        return [None] * len(found)
    return [
        None
        if one is None
        else EnvironmentResult(
            name=one.name, python=one.python, torch=one.packages.get("torch")
        )
        for one in found
    ]


def package_differences(measured: Sequence[MeasuredCluster]) -> tuple[PackageDifference, ...]:
    """Return every package whose version differs, Python first, then torch, then by name.

    What some environment lacks comes behind what all have. Empty where one is not known.
    """
    found = [environment_of(cluster) for cluster in measured]
    known = [one for one in found if one is not None]
    if len(known) < len(found):
        return ()
    all_packages = [{**one.packages, "python": one.python} for one in known]
    names = sorted(
        set().union(*all_packages), key=lambda name: (name != "python", name != "torch", name)
    )
    rows = [(name, tuple(packages.get(name) for packages in all_packages)) for name in names]
    differing = [
        PackageDifference(package=name, versions=versions)
        for name, versions in rows
        if len(set(versions)) > 1
    ]
    return tuple(sorted(differing, key=lambda one: None in one.versions))
