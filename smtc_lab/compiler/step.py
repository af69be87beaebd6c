"""A Python training step, compiled: what every backend takes and returns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import torch

TrainStep = Callable[[torch.nn.Module, torch.optim.Optimizer, Any], torch.Tensor]
"""Called as ``train_step(model, optimizer, batch)``: forward, loss, backward, optimizer step;
returns the loss. Automatic mixed precision, accumulation, clipping and schedulers are in it."""


class CompiledStep(Protocol):
    """A training step under one backend."""

    @property
    def backend(self) -> str:
        """``eager``, ``inductor`` or ``xla``."""
        ...

    def __call__(self, batch: Any) -> torch.Tensor:  # noqa: ANN401  whatever the dataset collates to
        """Run one training step on a batch and return its loss, which may not be computed yet.

        The batch may lie on the host; the step moves it to where it computes.

        Raises:
            CompilerError: The step cannot be compiled; says the line and the reason.
        """
        ...

    def wait(self) -> None:
        """Return when the device has computed every step so far."""
        ...

    def facts(self) -> dict[str, Any]:
        """Return fields of a ``CompilerReport`` that this backend knows, by name."""
        ...

    def leave(self) -> None:
        """Bring model and optimizer back to where they were before, with what they learnt.

        Another backend may then take them over. The step must not be called afterwards.
        """
        ...


class Followed(Protocol):
    """Whatever compiles in this process: the step of a session, or a script's models."""

    @property
    def backend(self) -> str:
        """The backend that runs the next step."""
        ...

    @property
    def is_settled(self) -> bool:
        """Whether the backend stays."""
        ...

    def wait(self) -> None:
        """Return when the device has computed every step so far."""
        ...

    def facts(self) -> dict[str, Any]:
        """Return fields of a ``CompilerReport``."""
        ...


class Script(Followed, Protocol):
    """An unmodified script that compiles its models."""

    def stop(self) -> None:
        """Leave everything to a session, which the script uses after all."""
        ...
