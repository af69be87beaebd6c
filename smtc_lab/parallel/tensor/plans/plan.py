"""One kind of block, and how it is divided."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from torch import nn

if TYPE_CHECKING:
    from collections.abc import Callable

    from smtc_lab.parallel.tensor.splitter import Splitter


@dataclass(frozen=True, kw_only=True)
class TensorPlan:
    """A kind of block whose layers ranks can share."""

    what: str
    """What it is, for people."""

    knows: Callable[[nn.Module], bool]
    """Whether a module is such a block."""

    split: Callable[[nn.Module, str, Splitter], None]
    """Leaves this rank its part of one, given with its name."""


def has_layers(module: nn.Module, *names: str, kind: type[nn.Module] = nn.Linear) -> bool:
    """Whether a module has these layers, exactly of a type, and no parameters beside theirs.

    A layer of a type of its own (quantized, or with an adapter) computes something else.
    """
    layers = [getattr(module, name, None) for name in names]
    if not all(type(one) is kind for one in layers):
        return False
    own = {id(value) for one in layers if one is not None for value in one.parameters()}
    return own == {id(value) for value in module.parameters()}


def is_of_transformers(module: nn.Module) -> bool:
    """Whether a module is of Hugging Face's package, whose shapes follow from the weights."""
    return type(module).__module__.partition(".")[0] == "transformers"
