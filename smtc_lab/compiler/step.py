"""A Python training step, compiled: what every backend takes and returns.

``auto`` asks ``Elsewhere`` where XLA lies in another Python environment: steps are taken in a
process that has started the job's script there; where XLA is kept, this process goes over to
that environment, and the script starts anew in it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn, Protocol

import torch

if TYPE_CHECKING:
    from collections.abc import Mapping

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


class TriedSteps(Protocol):
    """Training steps in another process, which leave this one as it is."""

    def take(self, batch: Any, *, limit_s: float) -> float:  # noqa: ANN401  whatever the dataset collates to
        """Take one step on a batch; return the seconds that it took.

        Args:
            batch: As the step takes it; on the host.
            limit_s: How long it may take at most, in seconds.

        Raises:
            CompilerError: The step failed, took too long, or ended its process.
        """
        ...

    def close(self) -> None:
        """End the process and what it has started. Twice is once."""
        ...


class Elsewhere(Protocol):
    """The job's script in an environment of its own."""

    def expected_start_s(self) -> float:
        """Return how long the script took here from its start until now, in seconds."""
        ...

    def steps(self, started: Callable[[float, str], None]) -> TriedSteps:
        """Return steps there; nothing is started before the first of them.

        Args:
            started: Called with the seconds that it took from the start of the process to its
                first step, and with what the environment is called.
        """
        ...

    def refuse(self, why: str) -> None:
        """Say why no step can be taken there; a step that is asked for fails from now on."""
        ...

    def move(self, facts: Mapping[str, Any]) -> NoReturn:
        """Become the script there, from its begin; never returns.

        Args:
            facts: What the trial found, as fields of a ``CompilerReport``.

        Raises:
            CompilerError: It cannot be, and nothing has changed here.
        """
        ...
