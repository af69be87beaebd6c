"""An optimizer that updates all parameters in one kernel."""

from __future__ import annotations

from typing import Any

import torch

_FUSED_ON = {
    torch.optim.SGD: ("cpu", "cuda"),
    torch.optim.Adam: ("cpu", "cuda"),
    torch.optim.AdamW: ("cpu", "cuda"),
    torch.optim.Adagrad: ("cpu",),
}
"""Optimizers with a fused kernel in torch 2.9, and the devices it runs on."""

_FUSED_SHARDED = (torch.optim.Adam, torch.optim.AdamW)
"""Those whose fused kernel takes sharded parameters (DTensor), in torch 2.9 and 2.15."""


class FusedOptimizer:
    """The given optimizer, made fused in place where torch has a kernel for it.

    The same formula in another order of roundings. State of earlier steps is kept.
    """

    def __init__(self, optimizer: torch.optim.Optimizer) -> None:
        self.problem = _problem(optimizer)
        """Why it is not fused; None: it is."""
        self._optimizer = optimizer
        self._before: list[tuple[Any, Any]] = []
        if self.problem is not None:
            return
        for settings in (optimizer.defaults, *optimizer.param_groups):
            self._before.append((settings.get("fused"), settings.get("foreach")))
            settings["fused"], settings["foreach"] = True, False
        # What the constructor with fused=True sets: to check the parameters at the next step,
        # and that a GradScaler may leave the unscaling to the kernel.
        flags: Any = optimizer
        flags._need_device_dtype_check_for_fused = True  # noqa: SLF001  torch has no setter
        if not isinstance(optimizer, torch.optim.Adagrad):
            flags._step_supports_amp_scaling = True  # noqa: SLF001  torch has no setter
        _place_step_counts(optimizer, beside_parameters=True)

    def undo(self) -> None:
        """Bring the optimizer back to how it updated before, with all that it learnt."""
        if self.problem is not None or not self._before:
            return
        groups = (self._optimizer.defaults, *self._optimizer.param_groups)
        # A group that was added since takes after the defaults, which come first.
        before = self._before + self._before[:1] * (len(groups) - len(self._before))
        for settings, (fused, foreach) in zip(groups, before, strict=True):
            settings["fused"], settings["foreach"] = fused, foreach
        if not any(fused for fused, _ in self._before):
            flags: Any = self._optimizer
            flags._step_supports_amp_scaling = False  # noqa: SLF001  torch has no setter
            _place_step_counts(self._optimizer, beside_parameters=False)
        self._before = []


def _problem(optimizer: torch.optim.Optimizer) -> str | None:
    """Return why an optimizer cannot be fused, or None."""
    name = type(optimizer).__name__
    devices = _FUSED_ON.get(type(optimizer))  # a subclass may have a formula of its own
    if devices is None:
        return f"torch has no fused kernel for {name}."
    for group in optimizer.param_groups:
        if group.get("differentiable"):
            return f"{name} was built with differentiable=True, which excludes a fused kernel."
        for parameter in group["params"]:
            if hasattr(parameter, "placements") and type(optimizer) not in _FUSED_SHARDED:
                return f"torch has no fused kernel of {name} for sharded parameters."
            if parameter.device.type not in devices or not parameter.is_floating_point():
                return (
                    f"torch has a fused kernel of {name} for real parameters on "
                    f"{' and '.join(devices)}, not for {parameter.dtype} on "
                    f"{parameter.device.type}."
                )
    return None


def _place_step_counts(optimizer: torch.optim.Optimizer, *, beside_parameters: bool) -> None:
    """Move step counts to where the next step expects them: fused ones beside the parameter."""
    for group in optimizer.param_groups:
        if group.get("capturable"):
            continue  # they are beside the parameter in any case
        for parameter in group["params"]:
            state = optimizer.state.get(parameter)
            count = state.get("step") if state else None
            if count is not None and state is not None:
                device = parameter.device if beside_parameters else "cpu"
                state["step"] = torch.as_tensor(count, dtype=torch.float32, device=device)
