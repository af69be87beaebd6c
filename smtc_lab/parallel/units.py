"""The parts of a model whose parameters are gathered together."""

from __future__ import annotations

from collections import Counter

from torch import nn

_CONTAINERS = (nn.ModuleList, nn.ModuleDict, nn.Sequential)
_LEAST_SHARE = 1 / 16
"""A layer with less of the parameters is gathered with what surrounds it."""


def shard_units(model: nn.Module) -> list[nn.Module]:
    """Return the layers that are sharded one by one; the rest goes with the model itself.

    The children of the outermost containers whose layers repeat (the blocks of a transformer);
    a model without any gives its larger children. While one of them computes, only its
    parameters are whole.

    Args:
        model: Any model.
    """
    found: list[nn.Module] = []
    waiting = [model]
    while waiting:
        module = waiting.pop(0)
        layers = [one for one in module.children() if any(True for _ in one.children())]
        alike = Counter(map(_shapes, layers)).most_common(1)
        if isinstance(module, _CONTAINERS) and alike and alike[0][1] > 1:
            found += [one for one in layers if any(True for _ in one.parameters())]
        else:
            waiting += layers
    if found:
        return [one for one in found if one is not model]
    total = sum(one.numel() for one in model.parameters())
    return [
        one
        for one in model.children()
        if not isinstance(one, (nn.ModuleList, nn.ModuleDict))  # they are never called
        and sum(p.numel() for p in one.parameters()) > total * _LEAST_SHARE
    ]


def _shapes(module: nn.Module) -> tuple[object, ...]:
    return (type(module), *((name, one.shape) for name, one in module.named_parameters()))
