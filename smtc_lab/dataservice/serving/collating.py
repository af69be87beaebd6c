"""Stacks the samples of a batch in memory that is used again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from smtc_lab.dataservice.torch_names import optional

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_STACKS = "torch.utils.data._utils.collate:collate_tensor_fn"
_STACKERS = "torch.utils.data._utils.collate:default_collate_fn_map"


def collate_into(take: Callable[[int], torch.Tensor]) -> None:
    """Let torch's default collate function put tensors into memory of ours, in this process.

    torch's own makes a new file in shared memory for each tensor of a data worker, and the
    system clears each page of it.

    Args:
        take: Returns so many bytes of undefined content, with a storage of their own.
    """
    otherwise, stackers = map(optional, (_STACKS, _STACKERS))
    if otherwise is None or stackers is None:
        return  # torch's own costs time, and nothing else

    def stack(batch: Sequence[torch.Tensor], *, collate_fn_map: object = None) -> torch.Tensor:
        first = batch[0]
        nbytes = first.nbytes * len(batch)
        if not nbytes or not all(map(_is_plain, batch)) or _differ(batch):
            fallback: torch.Tensor = otherwise(batch, collate_fn_map=collate_fn_map)
            return fallback
        out = take(nbytes).view(first.dtype).reshape(len(batch), *first.shape)
        return torch.stack(tuple(batch), 0, out=out)

    stackers[torch.Tensor] = stack


def _is_plain(tensor: torch.Tensor) -> bool:
    return (
        type(tensor) is torch.Tensor
        and tensor.layout is torch.strided
        and tensor.device.type == "cpu"
        and not tensor.requires_grad
        and not tensor.is_nested
    )


def _differ(batch: Sequence[torch.Tensor]) -> bool:
    first = batch[0]
    return any(one.shape != first.shape or one.dtype != first.dtype for one in batch[1:])
