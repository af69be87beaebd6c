"""A script's own optimizer, moved to the parameters of the wrapped model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from smtc_lab.errors import EntryPointError

if TYPE_CHECKING:
    from collections.abc import Mapping


def check_parameters(model: torch.nn.Module, optimizer: torch.optim.Optimizer) -> None:
    """Refuse an optimizer of parameters whose gradients nobody would reduce.

    Raises:
        EntryPointError: It steps parameters that are not the model's.
    """
    own = {id(one) for one in model.parameters()}
    stepped = [one for group in optimizer.param_groups for one in group["params"]]
    foreign = sum(id(one) not in own for one in stepped)
    if foreign:
        raise EntryPointError(
            f"{foreign} of the optimizer's {len(stepped)} parameters are not the model's, so "
            "trainers would not share their gradients. Put them into the module that is given "
            "to session.prepare()."
        )


def move_to(
    optimizer: torch.optim.Optimizer,
    names: Mapping[int, str],
    model: torch.nn.Module,
) -> None:
    """Let an optimizer step the sharded parameters in place of those that they were made of.

    Its groups, their order and hyperparameters stay; what it learnt is sharded alike. The
    object stays the same, so that schedulers and scalers keep it.

    Args:
        optimizer: The script's optimizer.
        names: Name of each parameter before sharding, by ``id``.
        model: The sharded model.
    """
    sharded = dict(model.named_parameters(remove_duplicate=False))
    learnt: dict[Any, Any] = dict(optimizer.state)
    optimizer.state.clear()
    for group in optimizer.param_groups:
        before = list(group["params"])
        group["params"][:] = [sharded[names[id(one)]] for one in before]  # LBFGS keeps the list
        for old, new in zip(before, group["params"], strict=True):
            if old in learnt:
                optimizer.state[new] = {
                    name: _like(value, old, new) for name, value in learnt[old].items()
                }


def _like(value: Any, old: torch.Tensor, new: torch.Tensor) -> Any:  # noqa: ANN401  state of any optimizer
    if isinstance(value, torch.Tensor) and value.shape == old.shape:
        return sharded_like(value, new)
    return value


def sharded_like(value: torch.Tensor, parameter: torch.Tensor) -> torch.Tensor:
    """Return a value of a parameter's shape as the parameter is sharded; whole: as it is."""
    sharded: Any = parameter
    if not hasattr(sharded, "full_tensor"):
        return value
    from torch.distributed.tensor import (  # noqa: PLC0415  a second, which others do without
        distribute_tensor,
    )

    return distribute_tensor(value.to(sharded.device), sharded.device_mesh, sharded.placements)


def states_kept(defaults: Mapping[str, Any]) -> float:
    """Return how many tensors of a parameter's shape torch's optimizers keep for each.

    Args:
        defaults: Those of the optimizer: Adam's have betas, SGD's may have momentum.
    """
    if "betas" in defaults:
        return 2.0 + bool(defaults.get("amsgrad"))
    return float(bool(defaults.get("momentum")))
