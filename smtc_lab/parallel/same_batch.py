"""Whether trainers that share one model have taken the same batch."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import torch
import torch.distributed as dist

from smtc_lab.errors import EntryPointError
from smtc_lab.parallel.group import on_the_wire

if TYPE_CHECKING:
    from collections.abc import Iterator


def check_same_batch(batch: Any, group: Any) -> None:  # noqa: ANN401  any batch, and a process group
    """Refuse batches that differ on the ranks of a group; all of them call it.

    Args:
        batch: Tensors in any nesting of tuples, lists and mappings; other values are not
            looked at.
        group: Stages of one pipeline, or ranks that share layers.

    Raises:
        EntryPointError: They differ; on all ranks.
    """
    mine = on_the_wire(
        torch.tensor([*(batch_digest(batch) or bytes(8))[:8]], dtype=torch.uint8)
    )
    found = [torch.zeros_like(mine) for _ in range(dist.get_world_size(group))]
    dist.all_gather(found, mine, group=group)
    if any(not torch.equal(one, found[0]) for one in found):
        raise EntryPointError(
            "Trainers that share one model took different batches. Make the loader with "
            "session.dataloader(), or give a sampler of your own session.batch_rank and "
            "session.num_batch_ranks in place of rank and world size; random transforms must "
            "draw the same numbers on each."
        )


def batch_digest(batch: Any) -> bytes | None:  # noqa: ANN401  as above
    """Return what tells the tensors of a batch from those of others; None: it has none."""
    digest, tensors = hashlib.sha256(), [*_tensors(batch)]
    for value in tensors:
        seen = value.detach().cpu().contiguous()
        digest.update(f"{seen.dtype}{tuple(seen.shape)}".encode())
        digest.update(seen.flatten().view(torch.uint8).numpy().tobytes())
    return digest.digest() if tensors else None


def _tensors(values: Any) -> Iterator[torch.Tensor]:  # noqa: ANN401  as above
    kind = type(values)  # isinstance would ask an object of the script for its class
    if issubclass(kind, torch.Tensor):
        yield values
    elif issubclass(kind, Mapping):
        for value in values.values():
            yield from _tensors(value)
    elif issubclass(kind, list | tuple):
        for value in values:
            yield from _tensors(value)
