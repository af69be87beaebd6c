"""Attention that drops weights with the random numbers of ``fast_dropout``."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch.nn import functional

from smtc_lab.compiler.fast_dropout import dropout, is_compiled
from smtc_lab.compiler.torch_names import optional

_torch_attention = functional.scaled_dot_product_attention
_has_formula = optional("torch:_scaled_dot_product_attention_math") is not None


def scaled_dot_product_attention(  # noqa: PLR0913, PLR0917  torch's signature
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attn_mask: torch.Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,  # noqa: FBT001, FBT002  as above
    *,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> torch.Tensor:
    """Return what ``torch.nn.functional.scaled_dot_product_attention`` returns.

    Torch drops weights inside of its own function, with the compiler's generator. That function
    is this formula anyway: on a CPU no fused kernel drops weights.
    """
    how: dict[str, Any] = {"scale": scale, "enable_gqa": enable_gqa}
    if not 0 < dropout_p < 1 or not is_compiled(query) or not _has_formula:
        return _torch_attention(query, key, value, attn_mask, dropout_p, is_causal, **how)
    if attn_mask is not None and attn_mask.dtype == torch.bool:  # else added as zeros and ones
        nothing = torch.zeros((), dtype=query.dtype, device=query.device)
        attn_mask = torch.where(attn_mask, nothing, -math.inf)
    # What these weights give without dropout is never computed: nobody asks for it.
    _, weights = torch._scaled_dot_product_attention_math(  # noqa: SLF001  torch has no public name
        query, key, value, attn_mask, 0.0, is_causal, **how
    )
    if enable_gqa:
        value = value.repeat_interleave(query.size(-3) // value.size(-3), -3)
    return dropout(weights, dropout_p) @ value
