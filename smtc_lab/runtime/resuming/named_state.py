"""An optimizer's state by the names of parameters, as several trainers share it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from smtc_lab.compiler.observing.parity_recorder import own_model

if TYPE_CHECKING:
    from collections.abc import Mapping

    import torch


def by_name(state: Mapping[str, Any], model: torch.nn.Module) -> dict[str, Any]:
    """Return the state of an optimizer of one process with names in the place of numbers.

    A state that has names already comes back as it is.

    Args:
        state: ``optimizer.state_dict()``, of an optimizer of the model's parameters in their
            order.
        model: The model.
    """
    numbers = [number for group in state["param_groups"] for number in group["params"]]
    if any(isinstance(one, str) for one in numbers):
        return dict(state)
    parameters = own_model(model).named_parameters()
    names = [name for name, one in parameters if one.requires_grad]
    of = dict(zip(numbers, names, strict=True))
    return {
        "state": {of[number]: one for number, one in state["state"].items()},
        "param_groups": [
            {**group, "params": [of[number] for number in group["params"]]}
            for group in state["param_groups"]
        ],
    }
