"""A batch as the arguments of a model, and a loss from what it returns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from smtc_lab.errors import EntryPointError


def arguments_of(inputs: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:  # noqa: ANN401  any batch
    """Return positional and keyword arguments: a mapping by name, a tuple one by one."""
    if isinstance(inputs, Mapping):
        return (), dict(inputs)
    return (tuple(inputs) if isinstance(inputs, (tuple, list)) else (inputs,)), {}


def loss_of_output(output: Any, _targets: Any) -> torch.Tensor:  # noqa: ANN401  any output
    """Return the loss that a model of transformers has in its output.

    Raises:
        EntryPointError: It has none.
    """
    loss = getattr(output, "loss", None)
    if not isinstance(loss, torch.Tensor):
        what = "Tensor" if isinstance(output, torch.Tensor) else type(output).__name__
        raise EntryPointError(
            f"The model returned a {what} without a loss. Give a loss function (loss_fn), or "
            "the model its labels."
        )
    return loss
