"""Gradients of a wrapped model: reduced once for several microbatches, clipped as a whole."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import torch
from torch.nn.parallel import DistributedDataParallel

from smtc_lab.errors import EntryPointError
from smtc_lab.parallel.torch_names import needed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator


@contextmanager
def unreduced(model: torch.nn.Module | None) -> Iterator[None]:
    """Let gradients of a model add up without being reduced, forward and backward inside."""
    wrapped: Any = model  # of FSDP2's kind, which is not imported here for a second's work
    if isinstance(model, DistributedDataParallel):
        with model.no_sync():
            yield
    elif hasattr(wrapped, "set_requires_gradient_sync"):
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
    total = total_norm(gradients, norm_type)
    scale_down(parameters, max_norm, total)
    return total


def count_all_norms(
    model: torch.nn.Module, whole_norm: Callable[[float], torch.Tensor]
) -> None:
    """Have ``torch.nn.utils.clip_grad_norm_`` clip a model by the norm of all ranks' gradients.

    It would else take what this rank holds for the whole, and each rank would clip otherwise.
    From then on all ranks call it together for this model.

    Args:
        model: What this rank holds of it.
        whole_norm: Returns the norm of all gradients, by its type.
    """
    own_norm = needed("torch.nn.utils.clip_grad:_get_total_norm")

    def norm(
        tensors: Any,  # noqa: ANN401  as torch has it
        norm_type: float = 2.0,
        error_if_nonfinite: bool = False,  # noqa: FBT001, FBT002  torch's signature
        foreach: bool | None = None,  # noqa: FBT001  as above
    ) -> torch.Tensor:
        given = [tensors] if isinstance(tensors, torch.Tensor) else list(tensors)
        own = {id(one.grad) for one in model.parameters() if one.grad is not None}
        found = {id(one) for one in given} & own
        if not found:
            return own_norm(given, norm_type, error_if_nonfinite, foreach)  # type: ignore[no-any-return]
        if found != own or len(given) != len(own):
            raise EntryPointError(
                f"clip_grad_norm_() was given {len(found)} of the {len(own)} gradients of this "
                "trainer, which has only a part of the model: the norm of such a choice is not "
                "known here. Give it model.parameters(), or call session.clip_grad_norm(model, "
                "max_norm)."
            )
        total = whole_norm(float(norm_type))
        if error_if_nonfinite and not bool(total.isfinite()):
            raise RuntimeError(
                f"The norm of order {norm_type} of all gradients is {float(total)}. Look for "
                "the step that made it, or pass error_if_nonfinite=False."
            )
        return total

    clipping: Any = torch.nn.utils.clip_grad
    clipping._get_total_norm = norm  # noqa: SLF001  which clip_grad_norm_ asks


def is_sharded(value: torch.Tensor) -> bool:
    """Whether ranks have shards of a tensor, as ``fully_shard`` makes them."""
    return hasattr(value, "full_tensor")


def total_norm(gradients: Iterable[torch.Tensor], norm_type: float) -> torch.Tensor:
    """Return the norm of all gradients together, some of which may be sharded."""
    found: dict[bool, list[torch.Tensor]] = {}
    for one in gradients:
        found.setdefault(is_sharded(one), []).append(one)
    norms: list[Any] = [
        torch.nn.utils.get_total_norm(alike, norm_type) for alike in found.values()
    ]
    whole = [one.full_tensor() if is_sharded(one) else one for one in norms]
    if len(whole) == 1:
        return whole[0]  # type: ignore[no-any-return]
    return torch.nn.utils.get_total_norm(whole, norm_type)


def scale_down(
    parameters: Iterable[torch.nn.Parameter], max_norm: float, total: torch.Tensor
) -> None:
    """Scale the gradients of parameters, whose norm is ``total``, down to a norm."""
    found: dict[bool, list[torch.nn.Parameter]] = {}
    for one in parameters:
        found.setdefault(is_sharded(one), []).append(one)
    for alike in found.values():  # torch takes no mixture
        torch.nn.utils.clip_grads_with_norm_(alike, max_norm, total)


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
        return type(batch)(*parts) if hasattr(type(batch), "_fields") else type(batch)(parts)
    return batch
