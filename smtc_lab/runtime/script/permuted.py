"""The samples of each batch in another order, for a twin that differs by rounding alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from collections.abc import Callable


def permuted_next(
    plain_next: Callable[[Any], Any], *, but_for: type | None = None
) -> Callable[[Any], Any]:
    """Return an iterator's ``__next__`` whose batches have their samples permuted.

    Args:
        plain_next: What it stands in for.
        but_for: Iterators that permute theirs already.
    """
    generator = torch.Generator().manual_seed(1)

    def __next__(self: Any) -> Any:  # noqa: ANN401, N807  stands in for torch's own
        batch = plain_next(self)
        if but_for is None or not isinstance(self, but_for):
            permute(batch, generator)
        return batch

    return __next__


def permute(batch: object, generator: torch.Generator) -> bool:
    """Permute the samples of a batch where it stands, all parts of them alike.

    Args:
        batch: What a dataset collates to.
        generator: Draws the order.

    Returns:
        Whether it was. Nothing is, where a part has not one entry for each sample: then it is
        not known what belongs together.
    """
    tensors: list[torch.Tensor] = []
    lists: list[list[Any]] = []
    if not _parts(batch, tensors, lists) or not tensors:
        return False
    sizes = {*map(len, tensors), *map(len, lists)}
    if len(sizes) != 1 or sizes <= {0, 1}:
        return False
    order = torch.randperm(sizes.pop(), generator=generator)
    for tensor in tensors:
        tensor.copy_(tensor[order.to(tensor.device)])
    for values in lists:
        values[:] = [values[place] for place in order.tolist()]
    return True


def _parts(value: object, tensors: list[torch.Tensor], lists: list[list[Any]]) -> bool:
    """Collect all parts that have samples; False where something else may have some."""
    if isinstance(value, torch.Tensor):
        if value.ndim and all(value is not one for one in tensors):
            tensors.append(value)
        return value.layout == torch.strided and not value.requires_grad
    if value is None or isinstance(value, (bool, int, float, str)):
        return True
    if isinstance(value, Mapping):
        return all(_parts(one, tensors, lists) for one in value.values())
    if isinstance(value, list) and all(isinstance(one, (str, int, float)) for one in value):
        lists.append(value)
        return True
    if isinstance(value, (list, tuple)):
        return all(_parts(one, tensors, lists) for one in value)
    return False
