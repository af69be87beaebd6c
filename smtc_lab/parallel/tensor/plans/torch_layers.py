"""Layers of ``torch.nn``: feed-forward of transformers, and Linear - activation - Linear."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torch import nn
from torch.nn import functional

from smtc_lab.parallel.tensor.plans.plan import TensorPlan

if TYPE_CHECKING:
    from collections.abc import Iterator

    from smtc_lab.parallel.tensor.splitter import Splitter

_ELEMENTWISE = (
    nn.CELU,
    nn.Dropout,
    nn.ELU,
    nn.GELU,
    nn.Hardsigmoid,
    nn.Hardswish,
    nn.Hardtanh,
    nn.Identity,
    nn.LeakyReLU,
    nn.Mish,
    nn.ReLU,
    nn.ReLU6,
    nn.SELU,
    nn.Sigmoid,
    nn.SiLU,
    nn.Softplus,
    nn.Softsign,
    nn.Tanh,
)
"""Look at one value at a time, so a part of the values is enough."""

_FUNCTIONS = (functional.relu, functional.gelu)


def _is_feed_forward(module: nn.Module) -> bool:
    layers: Any = module
    return (
        type(module) in {nn.TransformerEncoderLayer, nn.TransformerDecoderLayer}
        and type(layers.linear1) is type(layers.linear2) is nn.Linear
        and (layers.activation in _FUNCTIONS or type(layers.activation) in _ELEMENTWISE)
    )


def _split_feed_forward(module: nn.Module, _name: str, splitter: Splitter) -> None:
    layers: Any = module
    entrance = splitter.entrance()
    splitter.column(layers.linear1, entrance)
    splitter.row(layers.linear2, entrance)


def _pairs(module: nn.Module) -> Iterator[tuple[nn.Linear, nn.Linear]]:
    """Yield pairs of layers of a sequence that only look at one value at a time between."""
    first: nn.Linear | None = None
    for layer in module.children():
        if type(layer) is nn.Linear:
            if first is not None:
                yield first, layer
                first = None
            else:
                first = layer
        elif type(layer) not in _ELEMENTWISE:
            first = None


def _is_sequence(module: nn.Module) -> bool:
    return type(module) is nn.Sequential and any(True for _ in _pairs(module))


def _split_sequence(module: nn.Module, _name: str, splitter: Splitter) -> None:
    for first, second in _pairs(module):
        if first.out_features % splitter.ranks == 0:  # else it stays whole
            entrance = splitter.entrance()
            splitter.column(first, entrance)
            splitter.row(second, entrance)


PLANS = (
    TensorPlan(
        what="nn.TransformerEncoderLayer and nn.TransformerDecoderLayer",
        knows=_is_feed_forward,
        split=_split_feed_forward,
    ),
    TensorPlan(
        what="Linear, activation, Linear in nn.Sequential",
        knows=_is_sequence,
        split=_split_sequence,
    ),
)
