"""Python environments of a comparison in words: cells of a table, packages that differ."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from smtc_lab.views.text import format as fmt
from smtc_lab.views.text.compiler import sameness_words

if TYPE_CHECKING:
    from smtc_lab.metrics.compared.comparison import Comparison
    from smtc_lab.views.text.set_ups import Compared, SetUp

NOT_INSTALLED = "not installed"
"""What a table says of a package that an environment does not have."""

_NAMED = 4


@dataclass(frozen=True, kw_only=True, slots=True)
class EnvironmentSection:
    """What a report tells of the Python environments."""

    columns: tuple[str, ...]
    """Headings: the package, then each cluster's name."""

    rows: list[tuple[str, ...]]
    """Each package that all have in different versions, with its version in each."""

    lacking: list[tuple[str, ...]]
    """Each package that some environment lacks, with its version in each."""


def has_environments(comparison: Compared) -> bool:
    """Return whether the clusters of a comparison ran in several Python environments."""
    return any(cluster.environment is not None for cluster in comparison.clusters)


def environment_lines(cluster: SetUp) -> tuple[str, ...]:
    """Return the name of a cluster's environment, its Python and its torch."""
    environment = cluster.environment
    if environment is None:
        return (fmt.UNKNOWN,)
    if not environment.python:
        return (fmt.plain(environment.name),)
    torch = f"torch {environment.torch}" if environment.torch else "no torch"
    return (fmt.plain(environment.name), f"Python {fmt.plain(environment.python)}", torch)


def same_model_lines(cluster: SetUp) -> tuple[str, ...]:
    """Return whether the same training comes out as in the first environment."""
    environment = cluster.environment
    return (sameness_words(None if environment is None else environment.parity),)


def checks_environments(comparison: Compared) -> bool:
    """Return whether it was checked that all environments train the same model."""
    return any(
        cluster.environment is not None and cluster.environment.parity is not None
        for cluster in comparison.clusters
    )


def environment_section(comparison: Comparison) -> EnvironmentSection | None:
    """Return what a report tells of the environments; None: there was one only."""
    if not has_environments(comparison):
        return None
    rows: list[tuple[str, ...]] = [
        (one.package, *(version or NOT_INSTALLED for version in one.versions))
        for one in comparison.package_differences
    ]
    return EnvironmentSection(
        columns=("package", *(cluster.name for cluster in comparison.clusters)),
        rows=[row for row in rows if NOT_INSTALLED not in row],
        lacking=[row for row in rows if NOT_INSTALLED in row],
    )


def differences_sentence(comparison: Comparison) -> str:
    """Return what differs between the environments in one sentence; empty: nothing is known."""
    differing = comparison.package_differences
    if not differing:
        return ""
    told = [
        f"{fmt.plain(one.package)} "
        + " / ".join(fmt.plain(version or "none") for version in one.versions)
        for one in differing[:_NAMED]
    ]
    more = len(differing) - _NAMED
    rest = f", and {more:,} more, all of them in the report" if more > 0 else ""
    count = fmt.count(len(differing), "package")
    names = " / ".join(fmt.plain(cluster.name) for cluster in comparison.clusters)
    return f"The environments differ in {count} ({names}): {', '.join(told)}{rest}."
