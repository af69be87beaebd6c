"""Layers of a model that repeat, to be compiled one by one and once only."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    import torch

_LEAST_ALIKE = 4
"""Fewer equal layers than this save too little compile time."""


def repeated_blocks(model: torch.nn.Module, *, least_alike: int) -> list[torch.nn.Module]:
    """Return the children of every container that holds layers which are alike.

    Alike: the same class, and parameters of the same names, shapes and types. All composite
    children of such a container are returned, also the odd one (the first layer of T5 has a
    bias of its own). Containers inside a layer are not searched.

    Args:
        model: Any model.
        least_alike: How many layers of a container must be alike.
    """
    blocks: list[torch.nn.Module] = []
    waiting = [model]
    while waiting:
        module = waiting.pop(0)
        layers = [child for child in module.children() if any(True for _ in child.children())]
        alike = Counter(map(_signature, layers)).most_common(1)
        if alike and alike[0][1] >= least_alike and module is not model:
            blocks += layers
        else:
            waiting += layers
    return blocks


def blocks_worth_compiling(
    model: torch.nn.Module, *, per_block: bool | None
) -> list[torch.nn.Module]:
    """Return the layers to be compiled one by one; none: the model is compiled as a whole.

    Args:
        model: Any model.
        per_block: True: wherever two layers are alike. False: never. None: where four are,
            and these containers are at least half of the model, by modules: what lies outside
            of them is not compiled.
    """
    if per_block is False:
        return []
    blocks = repeated_blocks(model, least_alike=2 if per_block else _LEAST_ALIKE)
    inside = sum(1 for block in blocks for _ in block.modules())
    everywhere = sum(1 for _ in model.modules())
    return blocks if per_block or 2 * inside >= everywhere else []


def without_generation_cache(model: torch.nn.Module) -> Callable[[], None]:
    """Make a Hugging Face model keep no keys and values while it is trained; return the undo.

    Only generation needs them. Each layer writes to a place of its own in them, so that none
    could share the compiled code of another one.
    """
    configs: list[Any] = [getattr(module, "config", None) for module in model.modules()]
    changed = {id(it): it for it in configs if getattr(it, "use_cache", None) is True}
    for config in changed.values():
        config.use_cache = False

    def undo() -> None:
        for config in changed.values():
            config.use_cache = True

    return undo


def _signature(module: torch.nn.Module) -> tuple[object, ...]:
    parameters = ((name, p.shape, p.dtype) for name, p in module.named_parameters())
    return (type(module), *parameters)
