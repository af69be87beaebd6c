"""The training step as it is, operator by operator."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch

    from smtc_lab.compiler.step import TrainStep


class EagerStep:
    """The step as it is, operator by operator."""

    backend = "eager"

    def __init__(
        self, train_step: TrainStep, model: torch.nn.Module, optimizer: torch.optim.Optimizer
    ) -> None:
        self._train_step = train_step
        self._model = model
        self._optimizer = optimizer

    def __call__(self, batch: Any) -> torch.Tensor:  # noqa: ANN401  whatever the dataset collates to
        """Run one training step on a batch and return its loss."""
        return self._train_step(self._model, self._optimizer, batch)
