"""The declared networks between the trainers of a job, as clocks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from smtc_lab.parallel.link.pace import Pace
from smtc_lab.runtime.ranks.reducing import reduces_on_data

if TYPE_CHECKING:
    from smtc_lab.instance.context import InstanceContext


def declared_shard_pace(context: InstanceContext) -> Pace | None:
    """Return the declared network of the trainers that share one replica's parameters.

    They have ranks that follow each other, so they are on one instance where they fit. None:
    no network is declared between them, or nothing is sharded.
    """
    layout = context.distribution
    if context.link is None or layout is None or layout.shard == 1:
        return None
    pace = Pace(
        context.link,
        world_size=layout.shard,
        local_world_size=min(layout.shard, context.local_world_size),
    )
    return pace if pace.is_declared else None


def declared_pace(context: InstanceContext) -> Pace | None:
    """Return the declared network between the trainers of a job; None: none is declared."""
    if context.link is None:
        return None
    pace = Pace(
        context.link,
        world_size=context.world_size,
        local_world_size=context.local_world_size,
        reducers=len(context.data_servers) if reduces_on_data(context) else 0,
    )
    return pace if pace.is_declared else None
