"""The network that an emulation declares, with the catalog's figures where it names none."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from smtc_lab.catalog.roles import instances_of_roles, roles
from smtc_lab.instance.link import DeclaredWire, LinkDeclaration
from smtc_lab.spec.emulation import EmulatedLink

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from smtc_lab.catalog.catalog import Catalog
    from smtc_lab.spec.job import TrainingJob

LINK = "link"
"""Name of what the facts of a plan say of the network."""

BYTES_PER_GBIT = 1e9 / 8
"""Bytes that a Gbit/s carries in a second."""


def link_facts(job: TrainingJob, catalog: Catalog, *, is_rated: bool = False) -> dict[str, Any]:
    """Return what a run keeps of its declared network; empty: none is declared.

    Bandwidths are in bytes per second and latencies in seconds of this machine: the network is
    slower by the time dilation.

    Args:
        job: The job, with its time dilation.
        catalog: Where the instance types are looked up.
        is_rated: Whether instances have the catalog's network where none is declared; their
            own, as elsewhere, is otherwise there.
    """
    emulation = job.emulation
    if emulation is None:
        return {}
    link, dilation = emulation.link, emulation.dilation
    if link is None and is_rated:
        link = rated_link(job, catalog)
    if link is None:
        return {}
    between_gbps = _between_gbps(job, link, catalog)
    declared = LinkDeclaration(
        inside=_wire(link.inside_gbps, link.inside_latency_s, dilation),
        between=_wire(between_gbps, link.between_latency_s, dilation),
    )
    return {LINK: declared.to_values()}


def rated_link(job: TrainingJob, catalog: Catalog) -> EmulatedLink | None:
    """Return the network of the catalog between emulated instances that exchange gradients.

    None: there are no two of them, or the bandwidth of one is not known.
    """
    link, exchanging = EmulatedLink(), instances_of_roles(job.cluster, catalog)["train"]
    is_known = _between_gbps(job, link, catalog) is not None
    return link if exchanging > 1 and is_known else None


def link_problems(job: TrainingJob, catalog: Catalog) -> list[str]:
    """Return why a network cannot be emulated; empty: it can, or none is declared."""
    link = None if job.emulation is None else job.emulation.link
    if link is None or link.between_gbps is not None or job.cluster.num_instances == 1:
        return []
    if _between_gbps(job, link, catalog) is not None:
        return []
    names = ", ".join(dict.fromkeys(_exchanging_types(job, catalog)))
    unknown = (
        f"The catalog has no network bandwidth of {names or 'local'}, which emulation.link is "
        "to take from it. Declare EmulatedLink(between_gbps=…)."
    )
    return [unknown]


def declared_link(facts: Mapping[str, Any]) -> LinkDeclaration | None:
    """Return the network that the facts of a plan declare; None: there is none."""
    values = facts.get(LINK)
    return None if values is None else LinkDeclaration.from_values(values)


def _between_gbps(job: TrainingJob, link: EmulatedLink, catalog: Catalog) -> float | None:
    """Return the declared bandwidth between instances in Gbit/s; None: nobody knows it."""
    if link.between_gbps is not None:
        return link.between_gbps
    known = [
        None if (found := catalog.instance_types.get(name)) is None else found.network_gbps
        for name in _exchanging_types(job, catalog)
    ]
    rates = [rate for rate in known if rate is not None]
    return min(rates) if rates and len(rates) == len(known) else None


def _exchanging_types(job: TrainingJob, catalog: Catalog) -> Iterator[str]:
    """Yield the types of the groups whose instances exchange gradients."""
    role_of = roles(job.cluster, catalog)
    for group in job.cluster.instance_groups:
        if role_of[group.instance_group_name] == "train":
            yield group.instance_type


def _wire(gbps: float | None, latency_s: float, dilation: float) -> DeclaredWire | None:
    if gbps is None:
        return None
    return DeclaredWire(
        latency_s=latency_s * dilation, bytes_per_s=gbps * BYTES_PER_GBIT / dilation
    )
