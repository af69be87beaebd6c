"""``torch.nn.MultiheadAttention``: its heads are divided."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import nn
from torch.nn import functional

from smtc_lab.errors import EntryPointError
from smtc_lab.parallel.tensor.collectives import summed
from smtc_lab.parallel.tensor.plans.plan import TensorPlan
from smtc_lab.parallel.tensor.split import Split

if TYPE_CHECKING:
    from collections.abc import Callable

    from smtc_lab.parallel.tensor.splitter import Splitter

_QKV = 3


def _knows(module: nn.Module) -> bool:
    return type(module) is nn.MultiheadAttention


def _split(module: nn.Module, name: str, splitter: Splitter) -> None:
    attention: Any = module
    if attention.in_proj_weight is None or attention.bias_k is not None:
        raise EntryPointError(
            f"{name} (MultiheadAttention) has kdim, vdim or add_bias_kv, which tensor="
            f"{splitter.ranks} trainers do not share. Leave them out, or take shard in place "
            "of tensor."
        )
    heads = splitter.share(attention.num_heads, f"heads in {name}")
    splitter.parameter(attention, "in_proj_weight", Split(0, _QKV))
    splitter.parameter(attention, "in_proj_bias", Split(0, _QKV))
    splitter.parameter(attention.out_proj, "weight", Split(1))
    # a layer of torch's own in evaluation would read these weights past this forward
    attention._qkv_same_embed_dim = False  # noqa: SLF001  what it asks for
    attention.__dict__["forward"] = _SharedHeads(attention, splitter, heads).forward


class _SharedHeads:
    """The forward of an attention of which this rank has some heads."""

    def __init__(self, module: Any, splitter: Splitter, heads: int) -> None:  # noqa: ANN401  with torch's attributes
        self._module, self._heads = module, heads
        self._first, self._ranks = splitter.rank * heads, splitter.ranks
        self._group, self._entrance = splitter.group, splitter.entrance()
        self._project: Callable[[torch.Tensor], torch.Tensor] = splitter.row_of(
            module.out_proj, self._entrance
        )

    def forward(  # noqa: PLR0913, PLR0917  torch's signature
        self,
        query: torch.Tensor,
        key: torch.Tensor,
        value: torch.Tensor,
        key_padding_mask: torch.Tensor | None = None,
        need_weights: bool = True,  # noqa: FBT001, FBT002  as above
        attn_mask: torch.Tensor | None = None,
        average_attn_weights: bool = True,  # noqa: FBT001, FBT002  as above
        is_causal: bool = False,  # noqa: FBT001, FBT002  as above
    ) -> tuple[torch.Tensor, torch.Tensor | None]:
        if need_weights and not average_attn_weights:
            raise EntryPointError(
                "An attention whose heads trainers share was asked for the weights of each "
                "head. Ask for their mean, or take shard in place of tensor."
            )
        is_batched = query.dim() == 3
        heads = self._projected(query, key, value, is_batched=is_batched)
        hint = is_causal and key_padding_mask is None and not need_weights
        mask = None if hint else self._mask(attn_mask, key_padding_mask, heads[0])
        out, weights = self._attended(*heads, mask, hint=hint, need_weights=need_weights)
        total = self._project(out.transpose(1, 2).flatten(2))
        if not is_batched:
            return total.squeeze(0), None if weights is None else weights.squeeze(0)
        return total if self._module.batch_first else total.transpose(0, 1), weights

    def _projected(
        self, *given: torch.Tensor, is_batched: bool
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Return queries, keys and values of this rank's heads: batch, head, length, width."""
        module, made = self._module, []
        weights = module.in_proj_weight.chunk(_QKV)
        none = (None,) * _QKV
        biases = none if module.in_proj_bias is None else module.in_proj_bias.chunk(_QKV)
        for value, weight, bias in zip(given, weights, biases, strict=True):
            out = functional.linear(self._entrance(value), weight, bias)
            if not is_batched:
                out = out.unsqueeze(0)
            elif not module.batch_first:
                out = out.transpose(0, 1)
            made.append(torch.unflatten(out, -1, (self._heads, -1)).transpose(1, 2))
        return made[0], made[1], made[2]

    def _mask(
        self,
        attn_mask: torch.Tensor | None,
        key_padding_mask: torch.Tensor | None,
        queries: torch.Tensor,
    ) -> torch.Tensor | None:
        """Return what is added to the scores of this rank's heads."""
        added = None
        if attn_mask is not None:
            added = _as_added(attn_mask, queries.dtype)
            if added.dim() == 3:
                of_each = torch.unflatten(added, 0, (-1, self._module.num_heads))
                added = of_each[:, self._first : self._first + self._heads]
        if key_padding_mask is not None:
            padding = _as_added(key_padding_mask, queries.dtype)
            padding = padding.reshape(-1, 1, 1, padding.shape[-1])
            added = padding if added is None else added + padding
        return added

    def _attended(  # noqa: PLR0913  as above
        self,
        queries: torch.Tensor,
        keys: torch.Tensor,
        values: torch.Tensor,
        mask: torch.Tensor | None,
        *,
        hint: bool,
        need_weights: bool,
    ) -> tuple[torch.Tensor, torch.Tensor | None]:
        dropout = self._module.dropout if self._module.training else 0.0
        if not need_weights:
            return functional.scaled_dot_product_attention(
                queries, keys, values, attn_mask=mask, dropout_p=dropout, is_causal=hint
            ), None
        scores = queries @ keys.transpose(-2, -1) * queries.shape[-1] ** -0.5
        weights = torch.softmax(scores if mask is None else scores + mask, -1)
        weights = functional.dropout(weights, dropout, training=bool(dropout))
        return weights @ values, summed(weights.mean(1), self._group) / self._ranks


def _as_added(mask: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """Return a mask as numbers that are added to scores; True leaves a key out."""
    if mask.dtype is not torch.bool:
        return mask.to(dtype)
    none = torch.zeros((), dtype=dtype, device=mask.device)
    return none.expand(mask.shape).masked_fill(mask, float("-inf"))


PLANS = (TensorPlan(what="nn.MultiheadAttention", knows=_knows, split=_split),)
