"""The declared networks between the trainers of a job, as clocks."""

from __future__ import annotations

from collections import Counter
from functools import cache
from typing import TYPE_CHECKING

from smtc_lab.parallel.link.pace import Pace

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from smtc_lab.instance.context import InstanceContext


def declared_group_pace(context: InstanceContext, ranks: Sequence[int]) -> Pace | None:
    """Return the declared network between some trainers; None: none is declared between them.

    Ranks follow each other on the instances of a job. Groups of an instance's other trainers
    are taken to exchange at the same time, over the same network between instances.

    Args:
        context: Where this trainer stands.
        ranks: The trainers.
    """
    if context.link is None:
        return None
    on_each = context.local_world_size
    together = max(Counter(rank // on_each for rank in ranks).values())
    pace = Pace(
        context.link,
        world_size=len(ranks),
        local_world_size=together,
        rings=max(1, on_each // together),
    )
    return pace if pace.is_declared else None


def declared_sends(
    context: InstanceContext, ranks: Sequence[int]
) -> Callable[[int], Pace | None]:
    """Return the declared networks that this trainer sends to others over, by their ranks.

    What it sends inside its instance queues, and so does what it sends to other instances. The
    pipelines of an instance's other trainers are taken to send at the same time, over the same
    network between instances.

    Args:
        context: Where this trainer stands.
        ranks: The trainers of its pipeline.
    """
    on_each = context.local_world_size
    together = max(Counter(rank // on_each for rank in ranks).values())

    @cache
    def over(is_inside: bool) -> Pace | None:  # noqa: FBT001  a key
        if context.link is None:
            return None
        pace = Pace(
            context.link,
            world_size=2,
            local_world_size=2 if is_inside else 1,
            rings=max(1, on_each // together),
        )
        return pace if pace.is_declared else None

    return lambda rank: over(rank // on_each == context.rank // on_each)


def declared_pace(context: InstanceContext) -> Pace | None:
    """Return the declared network between the trainers of a job; None: none is declared."""
    if context.link is None:
        return None
    pace = Pace(
        context.link,
        world_size=context.world_size,
        local_world_size=context.local_world_size,
    )
    return pace if pace.is_declared else None
