"""The network that an emulation declares, with the catalog's figures where it names none."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from smtc_lab.instance.link import DeclaredWire, LinkDeclaration
from smtc_lab.spec.emulation import EmulatedLink

if TYPE_CHECKING:
    from collections.abc import Mapping

    from smtc_lab.catalog.placed import Placed
    from smtc_lab.spec.job import TrainingJob

LINK = "link"
"""Name of what the facts of a plan say of the network."""

BYTES_PER_GBIT = 1e9 / 8
"""Bytes that a Gbit/s carries in a second."""


def link_facts(job: TrainingJob, where: Placed, *, is_rated: bool = False) -> dict[str, Any]:
    """Return what a run keeps of its declared network; empty: none is declared.

    Bandwidths are in bytes per second and latencies in seconds of this machine: the network is
    slower by the time dilation.

    Args:
        job: The job, with its time dilation.
        where: Its instances.
        is_rated: Whether instances have the catalog's network where none is declared; their
            own, as elsewhere, is otherwise there.
    """
    emulation = job.emulation
    if emulation is None:
        return {}
    link, dilation = emulation.link, emulation.dilation
    if link is None and is_rated:
        link = _rated_link(where)
    if link is None:
        return {}
    between_gbps = _between_gbps(link, where)
    declared = LinkDeclaration(
        inside=_wire(link.inside_gbps, link.inside_latency_s, dilation),
        between=_wire(between_gbps, link.between_latency_s, dilation),
    )
    return {LINK: declared.to_values()}


def _rated_link(where: Placed) -> EmulatedLink | None:
    """Return the network of the catalog between emulated instances that exchange gradients.

    None: there are no two of them, or the bandwidth of one is not known.
    """
    link, exchanging = EmulatedLink(), sum(e.group.instance_count for e in where.training)
    is_known = _between_gbps(link, where) is not None
    return link if exchanging > 1 and is_known else None


def link_problems(job: TrainingJob, where: Placed) -> list[str]:
    """Return why a network cannot be emulated; empty: it can, or none is declared."""
    link = None if job.emulation is None else job.emulation.link
    if link is None or link.between_gbps is not None or job.cluster.num_instances == 1:
        return []
    if _between_gbps(link, where) is not None:
        return []
    names = ", ".join(dict.fromkeys(each.group.instance_type for each in where.training))
    unknown = (
        f"The catalog has no network bandwidth of {names or 'local'}, which emulation.link is "
        "to take from it. Declare EmulatedLink(between_gbps=…)."
    )
    return [unknown]


def declared_link(facts: Mapping[str, Any]) -> LinkDeclaration | None:
    """Return the network that the facts of a plan declare; None: there is none."""
    values = facts.get(LINK)
    return None if values is None else LinkDeclaration.from_values(values)


def _between_gbps(link: EmulatedLink, where: Placed) -> float | None:
    """Return the declared bandwidth between instances in Gbit/s; None: nobody knows it."""
    if link.between_gbps is not None:
        return link.between_gbps
    known = [None if e.known is None else e.known.network_gbps for e in where.training]
    rates = [rate for rate in known if rate is not None]
    return min(rates) if rates and len(rates) == len(known) else None


def _wire(gbps: float | None, latency_s: float, dilation: float) -> DeclaredWire | None:
    if gbps is None:
        return None
    return DeclaredWire(
        latency_s=latency_s * dilation, bytes_per_s=gbps * BYTES_PER_GBIT / dilation
    )
