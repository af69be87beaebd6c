"""Ranks that hold the same part of a model, and average its gradients themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
import torch.distributed as dist

from smtc_lab.errors import EntryPointError
from smtc_lab.parallel.group import on_the_wire

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

_BUCKET_BYTES = 25 * 2**20
"""As DDP's; larger ones bring nothing, and lie in memory twice."""


def sum_over(values: torch.Tensor, group: Any) -> None:  # noqa: ANN401  a process group
    """Sum values over the ranks of a group, in place."""
    dist.all_reduce(values, group=group)


def average_gradients(
    parameters: Iterable[torch.nn.Parameter],
    group: Any,  # noqa: ANN401  as above
    all_reduce: Callable[[torch.Tensor, Any], None] = sum_over,
) -> None:
    """Average the gradients of parameters over the ranks of a group.

    A gradient that only some ranks have is averaged with zeros, as DDP does; one that no rank
    has stays None.

    Args:
        parameters: The same ones on each rank, in the same order.
        group: The ranks.
        all_reduce: Sums a bucket over them.

    Raises:
        EntryPointError: A gradient is sparse.
    """
    for bucket in _buckets([one for one in parameters if one.requires_grad]):
        _average(bucket, group, all_reduce)


def take_from_first(values: Iterable[torch.Tensor], group: Any) -> None:  # noqa: ANN401  as above
    """Give tensors the values that the first rank of a group has."""
    with torch.no_grad():
        for value in values:
            sent = on_the_wire(value.detach()).contiguous()
            dist.broadcast(sent, group=group, group_src=0)
            value.copy_(sent)


def _buckets(parameters: Sequence[torch.nn.Parameter]) -> Iterator[list[torch.nn.Parameter]]:
    """Yield parameters of one type and device that are sent together."""
    alike: dict[tuple[torch.dtype, torch.device], list[torch.nn.Parameter]] = {}
    for one in parameters:
        alike.setdefault((one.dtype, one.device), []).append(one)
    for group in alike.values():
        bucket: list[torch.nn.Parameter] = []
        size = 0
        for one in group:
            if bucket and size + one.nbytes > _BUCKET_BYTES:
                yield bucket
                bucket, size = [], 0
            bucket.append(one)
            size += one.nbytes
        yield bucket


def _average(
    bucket: list[torch.nn.Parameter],
    group: Any,  # noqa: ANN401  as above
    all_reduce: Callable[[torch.Tensor, Any], None],
) -> None:
    count = sum(one.numel() for one in bucket)
    flat = bucket[0].new_zeros(count + len(bucket))  # behind the values, whether there are any
    parts = torch.split(flat[:count], [one.numel() for one in bucket])
    for place, (one, part) in enumerate(zip(bucket, parts, strict=True)):
        if one.grad is not None:
            if one.grad.is_sparse:
                raise EntryPointError(
                    f"A parameter of shape {tuple(one.shape)} has a sparse gradient, which "
                    "replicas do not average. Make its embedding with sparse=False."
                )
            part.copy_(one.grad.reshape(-1))
            flat[count + place] = 1
    flat /= dist.get_world_size(group)
    all_reduce(flat, group)
    for place, (one, part) in enumerate(zip(bucket, parts, strict=True)):
        if one.grad is not None:
            one.grad.copy_(part.view_as(one.grad))
        elif flat[count + place] > 0:
            one.grad = part.view_as(one).clone()
