"""Functions of ``torch.nn.functional`` in whose place faster ones are put."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

from torch.nn import functional

from smtc_lab.compiler.fast_attention import scaled_dot_product_attention
from smtc_lab.compiler.fast_dropout import dropout

if TYPE_CHECKING:
    from collections.abc import Mapping

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
