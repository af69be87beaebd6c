"""Which checkpoint all trainers have, and numbers that they have to agree on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
import torch.distributed as dist

from smtc_lab.parallel.group import is_joined, on_the_wire

if TYPE_CHECKING:
    from collections.abc import Iterator

_NONE = -1


def newest_of_all(steps: Iterator[int]) -> int | None:
    """Return the newest step whose checkpoint every trainer has; None: there is none.

    Trainers that are killed while they save leave the newest one with some of them only. All
    trainers call this.

    Args:
        steps: Steps of this trainer's complete checkpoints, from the newest.
    """
    mine = next(steps, _NONE)
    if not is_joined():
        return None if mine == _NONE else mine
    while True:
        lowest = _lowest(mine)
        if lowest == _NONE:
            return None
        while mine > lowest:
            mine = next(steps, _NONE)
        if _lowest(int(mine == lowest)):
            return lowest


def of_rank_0(number: int) -> int:
    """Return a number as rank 0 has it. All trainers call this."""
    if not is_joined():
        return number
    sent = on_the_wire(torch.tensor([number]))
    dist.broadcast(sent, src=0)
    return int(sent)


def score_of_rank_0(score: float) -> float:
    """Return a score as rank 0 has it. All trainers call this."""
    if not is_joined():
        return score
    sent = on_the_wire(torch.tensor([score], dtype=torch.float64))
    dist.broadcast(sent, src=0)
    return float(sent)


def _lowest(number: int) -> int:
    sent = on_the_wire(torch.tensor([number]))
    dist.all_reduce(sent, op=dist.ReduceOp.MIN)
    return int(sent)
