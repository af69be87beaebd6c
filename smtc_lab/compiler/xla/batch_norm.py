"""Running variances of batch normalization under XLA, as torch defines them."""

from __future__ import annotations

from typing import Any

import torch

from smtc_lab.compiler.module_call import OwnHook
from smtc_lab.compiler.torch_names import needed


class UnbiasedVariances:
    """Corrects what torch_xla 2.9 adds to ``running_var``: the variance over n, not n - 1.

    With small batches the model would be another one when it is evaluated.
    """

    def __init__(self, model: torch.nn.Module) -> None:
        """Put hooks on the batch normalizations of a model.

        Raises:
            CompilerError: This torch does not tell them from other modules.
        """
        kind = needed("torch.nn.modules.batchnorm:_BatchNorm")
        self._unseen = needed("torch.autograd.grad_mode:_unsafe_preserve_version_counter")
        self._before: dict[torch.nn.Module, torch.Tensor] = {}
        self._handles = [
            handle
            for module in model.modules()
            if isinstance(module, kind) and module.running_var is not None
            for handle in (
                module.register_forward_pre_hook(OwnHook(self._remember)),
                module.register_forward_hook(OwnHook(self._correct)),
            )
        ]

    def remove(self) -> None:
        """Take the hooks away."""
        for handle in self._handles:
            handle.remove()

    def _remember(self, module: torch.nn.Module, args: Any) -> None:  # noqa: ANN401, ARG002  torch's signature
        if module.training:
            self._before[module] = module.running_var.clone()  # type: ignore[operator]  # a tensor here

    def _correct(self, module: Any, args: tuple[Any, ...], output: torch.Tensor) -> None:  # noqa: ANN401, ARG002  torch's signature
        before = self._before.pop(module, None)
        if before is None:
            return
        values = args[0].numel() // args[0].size(1)
        momentum = module.momentum
        if momentum is None:
            momentum = 1 / module.num_batches_tracked
        variance = module.running_var
        # The backward holds on to the running variance, and in training does not use it.
        with torch.no_grad(), self._unseen(variance):
            variance.add_((variance - (1 - momentum) * before) / (values - 1))
