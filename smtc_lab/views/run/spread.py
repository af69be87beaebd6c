"""How a run is spread over trainers, and over which network they exchange gradients."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from smtc_lab.launchers.emulation.emulated_link import BYTES_PER_GBIT, LINK
from smtc_lab.metrics.records.facts import number_of
from smtc_lab.spec.distribution import Distribution
from smtc_lab.spec.emulation import EmulatedLink

if TYPE_CHECKING:
    from smtc_lab.follow.run_follower import RunFollower
    from smtc_lab.spec.emulation import Emulation


@dataclass(frozen=True, kw_only=True)
class WireInfo:
    """What a message takes from one trainer to the next, as the emulation has it."""

    gbps: float
    """Bandwidth in Gbit/s, each way."""

    latency_s: float
    """Time of an empty message in seconds."""


@dataclass(frozen=True, kw_only=True)
class SpreadInfo:
    """How a job is spread over trainers."""

    trainers: int
    """How many there are."""

    replicas: int
    """Replicas of the model, each with batches of its own."""

    shard: int
    """Trainers that share one replica."""

    between: WireInfo | None
    """Network between instances, declared or the catalog's; None: neither is emulated."""

    inside: WireInfo | None
    """Declared network between trainers of one instance; None: none is."""

    is_rated: bool
    """Whether the network is that of the catalog, as none is declared."""


def spread_of(follower: RunFollower) -> SpreadInfo | None:
    """Return how a run is spread; None: it has one trainer, and no network is declared."""
    job, plan = follower.job, follower.plan
    trainers = follower.num_trainers
    facts = plan.get("facts")
    between, inside = _wires(job.emulation, facts)
    if trainers < 2 and between is None and inside is None:
        return None
    spread = job.distribution or Distribution()
    return SpreadInfo(
        trainers=trainers,
        replicas=spread.replicas(trainers),
        shard=spread.per_replica,
        between=between,
        inside=inside,
        is_rated=between is not None and (job.emulation is None or job.emulation.link is None),
    )


def _wires(
    emulation: Emulation | None, facts: object
) -> tuple[WireInfo | None, WireInfo | None]:
    """Return the networks between instances and inside one, declared or the catalog's.

    Args:
        emulation: How it is emulated; None: the hardware was there.
        facts: What the plan was kept with, which knows the catalog's bandwidth.
    """
    told = facts.get(LINK) if isinstance(facts, dict) else None
    link = None if emulation is None else emulation.link
    if link is None and told is not None:
        link = EmulatedLink()
    if emulation is None or link is None:
        return None, None
    between = link.between_gbps
    if between is None:
        bytes_per_s = number_of(
            told.get("between") if isinstance(told, dict) else None, "bytes_per_s"
        )
        # kept in seconds of the machine
        here = None if bytes_per_s is None else bytes_per_s / BYTES_PER_GBIT
        between = None if here is None else here * emulation.dilation
    return _wire(between, link.between_latency_s), _wire(
        link.inside_gbps, link.inside_latency_s
    )


def _wire(gbps: float | None, latency_s: float) -> WireInfo | None:
    return None if gbps is None else WireInfo(gbps=gbps, latency_s=latency_s)
