"""The process group of a data instance: it has no rank among the trainers, and stays alone."""

from __future__ import annotations

import os
from typing import Any

import torch.distributed
from torch.distributed import distributed_c10d

_ALONE = {
    "RANK": "0",
    "LOCAL_RANK": "0",
    "GROUP_RANK": "0",
    "WORLD_SIZE": "1",
    "LOCAL_WORLD_SIZE": "1",
    "MASTER_ADDR": "127.0.0.1",
    "MASTER_PORT": "7777",
}
"""What the script of one of several trainers reads from its environment, for a group of one."""


def stay_alone(*, has_ranks: bool) -> None:
    """Give a script that joins the trainers' process group one of its own, with one rank.

    So it gets to its first iteration as on a trainer: collectives end at once with its own
    values, and a ``DistributedSampler`` has all samples. The trainers' samplers tell which of
    them are asked for; a dataset that the script itself splits by rank is told by its length.

    Args:
        has_ranks: Whether the trainers are told of ranks; else the script is told of none here.
    """
    if has_ranks:
        os.environ.update(_ALONE)
    os.environ["GLOO_SOCKET_IFNAME"] = "lo"  # a group of one needs no network
    plain_init, plain_new = torch.distributed.init_process_group, torch.distributed.new_group

    def init_process_group(*_: Any, **__: Any) -> None:  # noqa: ANN401  torch's own arguments
        store = torch.distributed.HashStore()  # type: ignore[attr-defined]  # torch does not say so
        plain_init("gloo", store=store, rank=0, world_size=1)

    def new_group(*_: Any, **__: Any) -> Any:  # noqa: ANN401  as above
        return plain_new()

    modules: tuple[Any, ...] = (torch.distributed, distributed_c10d)
    for module in modules:
        module.init_process_group, module.new_group = init_process_group, new_group
