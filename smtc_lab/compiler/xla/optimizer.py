"""An optimizer made ready for XLA before its first step."""

from __future__ import annotations

import inspect
from typing import Any

import torch


def create_state(optimizer: torch.optim.Optimizer) -> str | None:
    """Create the state that an optimizer would create in its first step.

    State that appears in the first step makes the second step another graph, and XLA compiles
    both. Parameters, gradients and existing state stay as they are.

    Returns:
        Why it could not, as a sentence; None: the state is there, or none is needed.
    """
    name = type(optimizer).__name__
    late = f"{name} creates its state in its first step, so XLA compiles two graphs."
    create = getattr(optimizer, "_init_group", None)
    if create is None:
        return late
    parameters = [
        parameter
        for group in optimizer.param_groups
        for parameter in group["params"]
        if parameter.requires_grad
    ]
    gradients = [parameter.grad for parameter in parameters]
    for parameter in parameters:
        # Only its presence, shape and type are looked at; its memory is never touched.
        parameter.grad = torch.empty_like(parameter)
    try:
        for group in optimizer.param_groups:
            # Lists that it fills for the update, which is not made here.
            create(group, *([] for _ in list(inspect.signature(create).parameters)[1:]))
    except (RuntimeError, TypeError, ValueError, KeyError, AttributeError):
        return late
    finally:
        for parameter, gradient in zip(parameters, gradients, strict=True):
            parameter.grad = gradient
    return _create_momentum(optimizer, late) if isinstance(optimizer, torch.optim.SGD) else None


def _create_momentum(optimizer: torch.optim.SGD, late: str) -> str | None:
    """Create SGD's momentum as zeros, to which the first step adds the gradient."""
    for group in optimizer.param_groups:
        if not group["momentum"]:
            continue
        if group["dampening"]:
            # The first gradient enters undampened, which zeros cannot tell.
            return late
        for parameter in group["params"]:
            if parameter.requires_grad:
                state: dict[str, Any] = optimizer.state[parameter]
                if state.get("momentum_buffer") is None:
                    state["momentum_buffer"] = torch.zeros_like(parameter).requires_grad_(False)
    return None


class Unfused:
    """An optimizer whose fused kernels, which XLA does not have, are switched off."""

    def __init__(self, optimizer: torch.optim.Optimizer) -> None:
        self._optimizer = optimizer
        self._fused = [
            options
            for options in (optimizer.defaults, *optimizer.param_groups)
            if options.get("fused")
        ]
        self._scales = getattr(optimizer, "_step_supports_amp_scaling", False)
        self._set(fused=False)

    def restore(self) -> None:
        """Switch them on again."""
        self._set(fused=True)

    def _set(self, *, fused: bool) -> None:
        for options in self._fused:
            options["fused"] = fused
        if self._fused and self._scales:
            # Tells a GradScaler that the fused kernel unscales gradients itself.
            self._optimizer._step_supports_amp_scaling = fused  # type: ignore[attr-defined]  # noqa: SLF001  torch has no public name
