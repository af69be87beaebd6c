"""Goes on eagerly when a backend cannot, where the job allows it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from smtc_lab.errors import CompilerError

if TYPE_CHECKING:
    from collections.abc import Callable

    import torch

    from smtc_lab.compiler.backends import MakeStep
    from smtc_lab.compiler.step import CompiledStep
    from smtc_lab.spec.compiler import TrainingCompilerConfig


class GuardedStep:
    """A step under one backend; with ``fallback="eager"`` its failure is not the run's."""

    is_settled = True
    """Whether the backend stays."""

    def __init__(
        self,
        make: MakeStep,
        *,
        config: TrainingCompilerConfig,
        say: Callable[[str, str], None],
    ) -> None:
        """Make the step.

        Args:
            make: Makes a step under a backend.
            config: Settings of the job; its backend is not ``auto``.
            say: Tells people; called with a kind of event and a sentence.

        Raises:
            CompilerError: The backend cannot be used here, and may not be replaced.
        """
        self._make = make
        self._config = config
        self._say = say
        self._fell_back_because: str | None = None
        try:
            self._step = make(config.backend, config, self._failed)
        except CompilerError as error:
            self._failed(error)
            self._step = make("eager", config, self._failed)

    @property
    def backend(self) -> str:
        """The backend that runs the next step."""
        return self._step.backend if self._fell_back_because is None else "eager"

    def __call__(self, batch: Any) -> torch.Tensor:  # noqa: ANN401  whatever the dataset collates to
        """Run one training step on a batch and return its loss."""
        try:
            return self._step(batch)
        except CompilerError as error:
            self._failed(error)
        leave(self._step)
        self._step = self._make("eager", self._config, self._failed)
        return self._step(batch)

    def wait(self) -> None:
        """Return when the device has computed every step so far."""
        self._step.wait()

    def leave(self) -> None:
        """Bring model and optimizer back to where they were before."""
        self._step.leave()

    def facts(self) -> dict[str, Any]:
        """Return what the backend knows, and why it is not the one that was asked for."""
        return {
            **self._step.facts(),
            "backend": self.backend,
            "fell_back_because": self._fell_back_because,
        }

    def _failed(self, error: CompilerError) -> None:
        """Take note of what the backend cannot do; raise it where that ends the run."""
        if self._config.fallback == "error" or self._fell_back_because is not None:
            raise error
        self._fell_back_because = str(error)
        self._say("warning", f"The step goes on eagerly: {error}")


def leave(step: CompiledStep) -> None:
    """Bring model and optimizer of a step that failed back to where they were.

    Raises:
        CompilerError: What the device held is lost, so there is nothing to go on with.
    """
    try:
        step.leave()
    except CompilerError:
        raise
    except Exception as error:
        first_line = (str(error).splitlines() or [""])[0]
        raise CompilerError(
            f"The {step.backend} backend failed, and its model cannot be brought back to go on "
            f"eagerly ({type(error).__name__}: {first_line}). Start again from the last "
            "checkpoint, with backend='eager'."
        ) from error
