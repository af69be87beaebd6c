"""Layers that keep what they are given, and compute all else again in the backward pass."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import torch

from smtc_lab.parallel.units import shard_units

if TYPE_CHECKING:
    from collections.abc import Callable

IS_RECOMPUTED = "_smtc_lab_is_recomputed"
"""Attribute of a module whose insides are computed again: nothing cuts through it."""


def recompute(model: torch.nn.Module) -> int:
    """Let the layers of a model keep their inputs alone; return how many do.

    The layers that repeat, or else the larger children. Gradients are the same, dropout
    included; a step computes each of these layers' forward twice. Caches of models of
    transformers are turned off: computed again they would be filled twice.

    Args:
        model: Any model, before it is wrapped.
    """
    for module in model.modules():
        config: Any = getattr(module, "config", None)
        if getattr(config, "use_cache", False):
            config.use_cache = False
    units = shard_units(model)
    for module in units:
        setattr(module, IS_RECOMPUTED, True)
        module.__dict__["forward"] = partial(_again, module, module.forward)
    return len(units)


def _again(
    module: torch.nn.Module,
    own: Callable[..., Any],
    *args: Any,  # noqa: ANN401  any module's
    **kwargs: Any,  # noqa: ANN401  as above
) -> Any:  # noqa: ANN401  as above
    if not (module.training and torch.is_grad_enabled()):
        return own(*args, **kwargs)
    from torch.utils.checkpoint import checkpoint  # noqa: PLC0415  others do without

    # hooks around it see what is given by place alone
    given = partial(_by_name, own, tuple(kwargs), len(args))
    return checkpoint(given, *args, *kwargs.values(), use_reentrant=False)


def _by_name(own: Callable[..., Any], names: tuple[str, ...], count: int, *given: Any) -> Any:  # noqa: ANN401  as above
    return own(*given[:count], **dict(zip(names, given[count:], strict=True)))
