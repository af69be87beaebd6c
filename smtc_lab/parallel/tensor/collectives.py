"""What the parts of a block exchange: their sum forward, the sum of gradients backward."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from smtc_lab.parallel.replicas import sum_over
from smtc_lab.parallel.torch_names import needed

if TYPE_CHECKING:
    from collections.abc import Callable


class PartSums:
    """How this process sums parts over the ranks that share layers."""

    all_reduce: Callable[[torch.Tensor, Any], None] = staticmethod(sum_over)
    """Sums values over a process group, in place."""


FakeTensor: Any = needed("torch._subclasses.fake_tensor:FakeTensor")


def summed(value: torch.Tensor, group: Any) -> torch.Tensor:  # noqa: ANN401  a process group
    """Return the sum of a tensor over ranks; its gradient is the same on each."""
    apply: Callable[..., torch.Tensor] = _Summed.apply  # untyped in some versions
    return apply(value, group)


class Entrance:
    """Where the layers of a block take what all ranks have alike.

    Forward it is what is given; backward the gradients of all ranks' parts are summed, once
    for all layers that take the same tensor one after the other.
    """

    def __init__(self, group: Any) -> None:  # noqa: ANN401  as above
        self._group = group
        self._given: torch.Tensor | None = None
        self._taken: torch.Tensor | None = None

    def __call__(self, value: torch.Tensor) -> torch.Tensor:
        """Return the tensor as a layer takes it."""
        if not (torch.is_grad_enabled() and value.requires_grad):
            return value
        if self._taken is None or self._given is not value:
            apply: Callable[..., torch.Tensor] = _Copied.apply  # as above
            self._given, self._taken = value, apply(value, self._group)
        return self._taken

    def leave(self) -> None:
        """Keep nothing of the block, which ends."""
        self._given = self._taken = None


class _Copied(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, value: torch.Tensor, group: Any) -> torch.Tensor:  # noqa: ANN401  torch's
        ctx.group = group
        return value.view_as(value)

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> tuple[torch.Tensor, None]:  # noqa: ANN401
        return _sum(gradient, ctx.group), None


class _Summed(torch.autograd.Function):
    @staticmethod
    def forward(_ctx: Any, value: torch.Tensor, group: Any) -> torch.Tensor:  # noqa: ANN401  torch's
        return _sum(value, group)

    @staticmethod
    def backward(_ctx: Any, gradient: torch.Tensor) -> tuple[torch.Tensor, None]:  # noqa: ANN401
        return gradient, None


def _sum(value: torch.Tensor, group: Any) -> torch.Tensor:  # noqa: ANN401  as above
    total = value.clone(memory_format=torch.contiguous_format)
    if not isinstance(total, FakeTensor):  # a pipeline looks at a model without values
        PartSums.all_reduce(total, group)
    return total
