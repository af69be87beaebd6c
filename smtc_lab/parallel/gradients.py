"""Gradients of a wrapped model: reduced once for several microbatches, clipped as a whole."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import torch
from torch.distributed.fsdp import FSDPModule
from torch.distributed.tensor import DTensor
from torch.nn.parallel import DistributedDataParallel

from smtc_lab.errors import EntryPointError

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def unreduced(model: torch.nn.Module | None) -> Iterator[None]:
    """Let gradients of a model add up without being reduced, forward and backward inside."""
    wrapped: Any = model  # mypy takes FSDP2's mixin for no module
    if isinstance(model, DistributedDataParallel):
        with model.no_sync():
            yield
    elif isinstance(wrapped, FSDPModule):
        wrapped.set_requires_gradient_sync(False)
        try:
            yield
        finally:
            wrapped.set_requires_gradient_sync(True)
    else:
        yield


def microbatches(
    model: torch.nn.Module | None,
    batch: Any,  # noqa: ANN401  whatever the dataset collates to
    count: int,
) -> Iterator[Any]:
    """Yield equal parts of a batch; gradients are reduced in the backward of the last alone.

    Raises:
        EntryPointError: The batch cannot be divided so.
    """
    size = _num_samples(batch)
    if count < 1 or size is None or size % count:
        raise EntryPointError(
            f"A batch of {'unknown size' if size is None else f'{size} samples'} cannot be "
            f"divided into {count} equal microbatches, and unequal ones would not average to "
            "the batch's gradient. Take a divisor, and drop_last=True for the last batch."
        )
    each = size // count
    for number in range(count - 1):
        with unreduced(model):
            yield _part(batch, slice(number * each, (number + 1) * each), size)
    yield _part(batch, slice(size - each, size), size)


def clip_grad_norm(
    model: torch.nn.Module, max_norm: float, norm_type: float = 2.0
) -> torch.Tensor:
    """Scale a model's gradients down to a norm; return the norm before, over all shards."""
    parameters = [one for one in model.parameters() if one.grad is not None]
    gradients = [one.grad for one in parameters if one.grad is not None]
    total = torch.nn.utils.get_total_norm(gradients, norm_type)
    if isinstance(total, DTensor):
        total = total.full_tensor()
    torch.nn.utils.clip_grads_with_norm_(parameters, max_norm, total)
    return total


def _num_samples(batch: Any) -> int | None:  # noqa: ANN401  as above
    if isinstance(batch, torch.Tensor):
        return len(batch) if batch.ndim else None
    parts = batch.values() if isinstance(batch, Mapping) else batch
    if not isinstance(batch, (Mapping, list, tuple)):
        return None
    return next((size for size in map(_num_samples, parts) if size is not None), None)


def _part(batch: Any, rows: slice, size: int) -> Any:  # noqa: ANN401  as above
    if isinstance(batch, torch.Tensor):
        return batch[rows] if batch.ndim and len(batch) == size else batch
    if isinstance(batch, Mapping):
        return {name: _part(value, rows, size) for name, value in batch.items()}
    if isinstance(batch, (list, tuple)):
        if len(batch) == size and not any(isinstance(one, torch.Tensor) for one in batch):
            return batch[rows]  # texts, one for each sample
        parts = [_part(value, rows, size) for value in batch]
        return type(batch)(*parts) if hasattr(batch, "_fields") else type(batch)(parts)
    return batch
