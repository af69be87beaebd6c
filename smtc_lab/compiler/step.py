"""A Python training step, compiled."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable

    import torch


class CompiledStep(Protocol):
    """What every backend returns."""

    backend: str
    """Name of the backend."""

    def __call__(self, batch: Any) -> torch.Tensor:  # noqa: ANN401  whatever the dataset collates to
        """Run one training step on a batch and return its loss."""
        ...


class EagerStep:
    """The step as it is, operator by operator."""

    backend = "eager"

    def __init__(
        self,
        train_step: Callable[[torch.nn.Module, torch.optim.Optimizer, Any], torch.Tensor],
        model: torch.nn.Module,
        optimizer: torch.optim.Optimizer,
    ) -> None:
        self._train_step = train_step
        self._model = model
        self._optimizer = optimizer

    def __call__(self, batch: Any) -> torch.Tensor:  # noqa: ANN401  whatever the dataset collates to
        """Run one training step on a batch and return its loss."""
        return self._train_step(self._model, self._optimizer, batch)
