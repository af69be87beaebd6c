"""What a trainer tells data servers of itself."""

from __future__ import annotations

import os

import torch.distributed

from smtc_lab.dataservice.protocol.messages import Asker


def asker_here() -> Asker:
    """Return what this process is, as its datasets would see it."""
    has_group = torch.distributed.is_available() and torch.distributed.is_initialized()
    told = {name: int(os.environ.get(name, "0") or 0) for name in ("RANK", "LOCAL_RANK")}
    sizes = {name: _size(name) for name in ("WORLD_SIZE", "LOCAL_WORLD_SIZE")}
    return Asker(
        rank=torch.distributed.get_rank() if has_group else told["RANK"],
        world_size=torch.distributed.get_world_size() if has_group else sizes["WORLD_SIZE"],
        local_rank=told["LOCAL_RANK"],
        local_world_size=sizes["LOCAL_WORLD_SIZE"],
        has_group=has_group,
        knows_ranks="RANK" in os.environ,
        last_pid=0,
    )


def _size(name: str) -> int:
    return int(os.environ.get(name, "1") or 1)
