"""Functions of ``torch.nn.functional`` in whose place faster ones are put, and the faster ones.

Compiled code on a CPU draws random numbers slowly, one by one: dropout here draws them in
arithmetic that fuses into the loops, and attention drops its weights with it.
"""

from __future__ import annotations

import math
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import torch
from torch.nn import functional

from smtc_lab.compiler.torch_names import optional

if TYPE_CHECKING:
    from collections.abc import Mapping

_torch_dropout = functional.dropout
_torch_attention = functional.scaled_dot_product_attention
_has_formula = optional("torch:_scaled_dot_product_attention_math") is not None

_WORD = 2**32


def dropout(
    input: torch.Tensor,  # noqa: A002  torch's name
    p: float = 0.5,
    training: bool = True,  # noqa: FBT001, FBT002  torch's signature
    inplace: bool = False,  # noqa: FBT001, FBT002  as above
) -> torch.Tensor:
    """Drop values as ``torch.nn.functional.dropout``: each with probability ``p``, alone.

    XLA's own generator took 64 ns for a number: 38 of 172 ms of a step of MNIST's CNN.
    Inductor's took 9 % of a step of DistilBERT and 12 % of GPT-2's. Here a number is a hash of
    its place, with two words that the compiler's generator draws for each call, so that seeds
    and checkpointing act as ever. Probabilities are exact to 2**-32.
    """
    if not training or not 0 < p < 1 or inplace or not is_compiled(input):
        return _torch_dropout(input, p, training, inplace)
    is_kept = _random_words(input) < int((1 - p) * _WORD) - _WORD // 2
    return input * torch.where(is_kept, 1 / (1 - p), 0.0).to(input.dtype)


def is_compiled(tensor: torch.Tensor) -> bool:
    """Return whether what is done to a tensor is compiled for a CPU: by XLA or by Inductor."""
    kind = tensor.device.type
    return kind == "xla" or (kind == "cpu" and torch.compiler.is_compiling())


def _random_words(like: torch.Tensor) -> torch.Tensor:
    """Return random int32 of a tensor's shape, all values equally likely.

    Source:
        triple32 (Chris Wellons, https://github.com/skeeto/hash-prospector), its last shift,
        which the high bits do not need, left out, and a second word of the key put in.
    """
    words: torch.Tensor
    drawn = (torch.rand(2, device=like.device) * 2**24).to(torch.int32)
    first, second = drawn * _signed(0x9E3779B1)
    words = first + _places(like)
    words = (words ^ _shifted(words, 17)) * _signed(0xED5AD4BB) ^ second
    words = (words ^ _shifted(words, 11)) * _signed(0xAC4C1B51)
    words = (words ^ _shifted(words, 15)) * _signed(0x31848BAB)
    return words


def _places(like: torch.Tensor) -> torch.Tensor:
    """Return each value's place in the flattened tensor, as int32 that wraps.

    Axis by axis: torch_xla makes the numbers of ``arange`` on the host, in every step.
    """
    places = torch.zeros((), dtype=torch.int32, device=like.device)
    stride = 1
    for axis in reversed(range(like.dim())):
        size = like.size(axis)
        along = torch.arange(size, dtype=torch.int32, device=like.device)
        after = [1] * (like.dim() - 1 - axis)
        places = places + (along * _signed(stride % _WORD)).view(size, *after)
        stride *= size
    return places


def _shifted(words: torch.Tensor, bits: int) -> torch.Tensor:
    """Shift right, zeros coming in."""
    return (words >> bits) & ((1 << (32 - bits)) - 1)


def _signed(word: int) -> int:
    """Return the int32 with the bits of a word."""
    return word - _WORD if word >= _WORD // 2 else word


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


FASTER_COMPILED: Mapping[str, Any] = {
    "dropout": dropout,
    "scaled_dot_product_attention": scaled_dot_product_attention,
}
"""By name, what every compiler runs faster on a CPU; uncompiled, it is torch's own."""


def replaced(faster: Mapping[str, Any]) -> AbstractContextManager[Any]:
    """Put functions in the place of torch's own until the end of the context.

    Those that somebody else has replaced stay, such as dropout in a parity launch.

    Args:
        faster: By the name in ``torch.nn.functional``.
    """
    ours = {
        name: function
        for name, function in faster.items()
        if getattr(functional, name).__module__.partition(".")[0] == "torch"
    }
    return patch.multiple(functional, **ours) if ours else nullcontext()
