"""Floating-point operations of one operation and of its backward, as torch counts them."""

from __future__ import annotations

from typing import Any

import torch
from torch.utils.flop_counter import flop_registry, sdpa_backward_flop_count, sdpa_flop_count

_ATTENTION = frozenset(
    getattr(torch.ops.aten, f"_scaled_dot_product_{kind}")
    for kind in (
        "flash_attention",
        "flash_attention_for_cpu",
        "efficient_attention",
        "cudnn_attention",
    )
)


def flops_of(func: Any, args: Any, kwargs: Any, out: Any) -> tuple[int, int]:  # noqa: ANN401  any operation
    """Return how many an operation takes, and its backward.

    The backward of a product takes as many again for each factor that needs a gradient. What
    is bound by memory counts nothing.
    """
    packet = func.overloadpacket
    if packet in _ATTENTION:
        query, key, value = (one.shape for one in args[:3])
        forward = sdpa_flop_count(query, key, value)  # type: ignore[no-untyped-call]
        if not any(one.requires_grad for one in args[:3]):
            return int(forward), 0
        back = sdpa_backward_flop_count(query, query, key, value)  # type: ignore[no-untyped-call]
        return int(forward), int(back)
    formula = flop_registry.get(packet)
    if formula is None:
        return 0, 0
    count = int(formula(*args, **kwargs, out_val=out))
    factors = [one for one in args if isinstance(one, torch.Tensor) and one.ndim > 1]
    return count, count * sum(one.requires_grad for one in factors[-2:])
