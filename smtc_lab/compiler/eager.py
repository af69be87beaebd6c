"""The training step as it is, operator by operator."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import torch

from smtc_lab.compiler.optimizers import FusedOptimizer
from smtc_lab.compiler.precision import device_of, use_bfloat16
from smtc_lab.compiler.torch_names import needed

if TYPE_CHECKING:
    from smtc_lab.compiler.step import TrainStep
    from smtc_lab.spec.compiler import TrainingCompilerConfig


class EagerStep:
    """The step as it is, with the optimizer and the precision that the settings ask for."""

    backend = "eager"

    def __init__(
        self,
        train_step: TrainStep,
        model: torch.nn.Module,
        optimizer: torch.optim.Optimizer,
        *,
        config: TrainingCompilerConfig | None = None,
    ) -> None:
        self._train_step = train_step
        self._model = model
        self._optimizer = optimizer
        self._device = device_of(model)
        if self._device.type != "cpu":
            self._map = needed("torch.utils._pytree:tree_map")
        self._fused: FusedOptimizer | None = None
        self._changes = ExitStack()
        if config is not None and config.precision == "bf16":
            self._changes.callback(use_bfloat16(model))
        if config is not None and config.fused_optimizer:
            self._fused = FusedOptimizer(optimizer)
            self._changes.callback(self._fused.undo)

    def __call__(self, batch: Any) -> torch.Tensor:  # noqa: ANN401  whatever the dataset collates to
        """Run one training step on a batch and return its loss."""
        if self._device.type != "cpu":
            batch = self._map(self._to_device, batch)
        return self._train_step(self._model, self._optimizer, batch)

    def wait(self) -> None:
        """Return when the device has computed every step so far."""
        if self._device.type == "cuda":
            torch.cuda.synchronize(self._device)

    def facts(self) -> dict[str, Any]:
        """Return fields of a ``CompilerReport`` that this backend knows, by name."""
        facts: dict[str, Any] = {"backend": self.backend, "device": self._device.type}
        if self._fused is not None:
            facts["fused_optimizer"] = self._fused.problem is None
            if self._fused.problem is not None:
                facts["notes"] = (f"The optimizer is not fused: {self._fused.problem}",)
        return facts

    def leave(self) -> None:
        """Bring model and optimizer back to where they were before, with what they learnt."""
        self._changes.close()

    def _to_device(self, leaf: Any) -> Any:  # noqa: ANN401  leaf of a batch
        # Hugging Face's BatchEncoding is a leaf to torch, and moves itself.
        move = getattr(leaf, "to", None)
        return leaf if move is None else move(self._device, non_blocking=True)
