"""Linear layers whose weight's gradient XLA on CPU need not transpose."""

from __future__ import annotations

from typing import Any

import torch
from torch.nn import functional

_torch_linear = functional.linear


def linear(
    input: torch.Tensor,  # noqa: A002  torch's name
    weight: torch.Tensor,
    bias: torch.Tensor | None = None,
) -> torch.Tensor:
    """Return what ``torch.nn.functional.linear`` returns; gradients equal up to rounding.

    Torch computes the gradient as (inputs, outputs) and transposes it. XLA moves that into each
    loop of the optimizer that reads it, where it jumps through memory: 28 of 172 ms of a step
    of MNIST's CNN, in three loops of Adadelta.
    """
    if (
        input.device.type != "xla"
        or weight.dim() != 2
        or not (torch.is_grad_enabled() and weight.requires_grad)
        or torch.is_autocast_enabled("xla")
    ):
        return _torch_linear(input, weight, bias)
    apply: Any = _Product.apply  # typed in some releases of torch only
    product: torch.Tensor = apply(input, weight)
    return product if bias is None else product + bias


class _Product(torch.autograd.Function):
    """Inputs times the transposed weight."""

    @staticmethod
    def forward(ctx: Any, values: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:  # noqa: ANN401  torch's signature
        ctx.save_for_backward(values, weight)
        return _torch_linear(values, weight)

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> Any:  # noqa: ANN401  as above
        values, weight = ctx.saved_tensors
        (gradient,) = gradients
        rows = gradient.reshape(-1, gradient.size(-1))
        of_weight = rows.t().mm(values.reshape(-1, values.size(-1)))
        return (gradient.matmul(weight) if ctx.needs_input_grad[0] else None), of_weight
