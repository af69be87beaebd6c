"""Lets a data worker answer for its trainer: its rank, and how many there are."""

from __future__ import annotations

import functools
import os
from typing import TYPE_CHECKING, Any

import torch.distributed
from torch.distributed import distributed_c10d

from smtc_lab.errors import DataServiceError

if TYPE_CHECKING:
    from collections.abc import Callable

    from smtc_lab.dataservice.protocol.messages import Asker

_COLLECTIVES = (
    *("all_gather", "all_gather_into_tensor", "all_gather_object", "all_reduce", "all_to_all"),
    *("all_to_all_single", "barrier", "broadcast", "broadcast_object_list", "gather"),
    *("gather_object", "irecv", "isend", "monitored_barrier", "recv", "reduce"),
    *("reduce_scatter", "reduce_scatter_tensor", "scatter", "scatter_object_list", "send"),
)


class _Answers:
    """Whom this process answers for."""

    asker: Asker | None = None


def stand_in() -> None:
    """Let torch's functions answer for a trainer, once there is one, also by other names.

    Whoever imports them after this call has these.
    """
    if not torch.distributed.is_available():
        return
    modules: tuple[Any, ...] = (torch.distributed, distributed_c10d)
    known: dict[str, Callable[[Asker], object]] = {
        "is_initialized": lambda _: True,
        "get_rank": lambda asker: asker.rank,
        "get_world_size": lambda asker: asker.world_size,
    }
    for name in (*known, *_COLLECTIVES):
        plain = getattr(torch.distributed, name, None)
        for module in modules if plain is not None else ():
            setattr(module, name, _instead_of(name, plain, known.get(name)))


def answer_for(asker: Asker) -> None:
    """Let datasets of this process see the rank of a trainer, as in a fork of it."""
    _Answers.asker = asker
    if asker.knows_ranks:
        os.environ.update(
            RANK=str(asker.rank),
            WORLD_SIZE=str(asker.world_size),
            LOCAL_RANK=str(asker.local_rank),
            LOCAL_WORLD_SIZE=str(asker.local_world_size),
        )


def _instead_of(name: str, plain: Any, known: Callable[[Asker], object] | None) -> Any:  # noqa: ANN401  torch's own function
    @functools.wraps(plain)
    def answer(*args: Any, **named: Any) -> Any:  # noqa: ANN401  as above
        asker = _Answers.asker
        if asker is None or not asker.has_group:
            return plain(*args, **named)
        if known is None or any(group is not None for group in (*args, *named.values())):
            raise DataServiceError(
                f"torch.distributed.{name} was called in a data worker, which is in no process "
                "group. Call it in the trainer, and keep what it returns in the dataset."
            )
        return known(asker)

    return answer
