"""How fast batches come from data instances of an emulation: over networks of the catalog."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Self

from smtc_lab.catalog.instance_types import GBPS_PER_FLOW
from smtc_lab.launchers.emulation.emulated_link import BYTES_PER_GBIT

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from smtc_lab.catalog.placed import Placed, PlacedGroup
    from smtc_lab.instance.plan import InstancePlan
    from smtc_lab.spec.job import TrainingJob

_BATCHES = "batches"


@dataclass(frozen=True, kw_only=True)
class BatchWires:
    """Bytes that batches may take in a second of this machine; None: as many as it moves."""

    trainer_bytes_per_s: float | None
    """To one training instance."""

    data_bytes_per_s: float | None
    """From one data instance."""

    connection_bytes_per_s: float
    """Over each connection between a data worker and a trainer, of which all together take
    what their instances can."""

    @classmethod
    def of_facts(cls, facts: Mapping[str, Any]) -> Self | None:
        """Return what the facts of a plan say of them; None: nothing is slowed down."""
        values = facts.get(_BATCHES)
        return None if values is None else cls(**values)


def batch_facts(
    job: TrainingJob, where: Placed, instances: Sequence[InstancePlan]
) -> dict[str, Any]:
    """Return what a run keeps of the networks that its batches come over; empty: none.

    Each instance has the bandwidth of its type in the catalog, divided by the time dilation,
    and each of its connections an equal share of that, and at most what one connection gets.
    Where few data workers stand for all vCPUs of an instance, each has the connections of
    those that it stands for.

    Args:
        job: The job, with its time dilation.
        where: Its groups.
        instances: Its instances.
    """
    trainers = [each for each in instances if each.role == "train"]
    servers = [each for each in instances if each.serves_loaders]
    if job.emulation is None or not servers:
        return {}
    to_trainer = _gbps(where.training)
    from_server = _gbps(each for each in where.groups if each.serves_loaders)
    if to_trainer == from_server == math.inf:
        return {}
    workers = max(each.num_workers for each in servers)
    stand_for = max(job.num_data_workers or each.vcpus or workers for each in servers)
    on_each = max(len(each.ranks) for each in trainers)
    of_connection = min(
        from_server / (workers * sum(len(each.ranks) for each in trainers)),
        to_trainer / (workers * len(servers) * on_each),
        GBPS_PER_FLOW * max(1.0, stand_for / workers),
    )
    dilation = job.emulation.dilation
    wires = BatchWires(
        trainer_bytes_per_s=_bytes_per_s(to_trainer, dilation),
        data_bytes_per_s=_bytes_per_s(from_server, dilation),
        connection_bytes_per_s=of_connection * BYTES_PER_GBIT / dilation,
    )
    return {_BATCHES: asdict(wires)}


def _gbps(groups: Iterable[PlacedGroup]) -> float:
    """Return the least bandwidth of some instances in Gbit/s; infinite: nobody knows any."""
    known = (None if each.known is None else each.known.card_gbps for each in groups)
    return min((gbps for gbps in known if gbps is not None), default=math.inf)


def _bytes_per_s(gbps: float, dilation: float) -> float | None:
    return None if math.isinf(gbps) else gbps * BYTES_PER_GBIT / dilation
