"""The step that finds its own backend: measures each one on real steps, and keeps the best."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import torch

from smtc_lab.compiler.agreement import FAILED_S, slowest_s
from smtc_lab.compiler.chooser import Chooser, not_tried
from smtc_lab.compiler.guarded import leave
from smtc_lab.compiler.precision import device_of
from smtc_lab.errors import CompilerError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from smtc_lab.compiler.backends import MakeStep
    from smtc_lab.spec.compiler import TrainingCompilerConfig


class AutoStep:
    """Runs each step under the backend that its chooser wants next.

    A batch whose step a backend could not run is run again eagerly, so none is lost.
    """

    def __init__(  # noqa: PLR0913  each by its name
        self,
        make: MakeStep,
        model: torch.nn.Module,
        backends: Sequence[str],
        *,
        config: TrainingCompilerConfig,
        num_steps: Callable[[], int | None],
        not_tried: Mapping[str, str],
        say: Callable[[str, str], None],
    ) -> None:
        """Begin eagerly.

        Args:
            make: Makes a step under a backend.
            model: The model that it trains.
            backends: What to try after eager, in this order.
            config: Settings of the job.
            num_steps: Returns the steps of the job; None: not known.
            not_tried: Why other backends cannot be tried, by name.
            say: Tells people; called with a kind of event and a sentence.
        """
        self._make = make
        self._device = device_of(model)
        self._config = config
        self._not_tried = dict(not_tried)
        self._say = say
        self._chooser = Chooser(["eager", *backends], num_steps=num_steps)
        self._is_paused = False
        self._problem: str | None = None
        self._fell_back_because: str | None = None
        self._probe_s = 0.0
        self._run = self._probe
        self._step = make("eager", config, self._failed)

    @property
    def is_settled(self) -> bool:
        """Whether the backend stays."""
        return self._chooser.is_done

    @property
    def backend(self) -> str:
        """The backend that runs the next step."""
        return "eager" if self._is_paused or self._fell_back_because else self._step.backend

    def __call__(self, batch: Any) -> torch.Tensor:  # noqa: ANN401  whatever the dataset collates to
        """Run one training step on a batch and return its loss."""
        return self._run(batch)

    def wait(self) -> None:
        """Return when the device has computed every step so far."""
        self._step.wait()

    def leave(self) -> None:
        """Bring model and optimizer back to where they were before."""
        self._resume()
        self._step.leave()

    def facts(self) -> dict[str, Any]:
        """Return what the backend knows, what was measured and why it was chosen."""
        others = tuple(not_tried(name, why) for name, why in self._not_tried.items())
        return {
            **self._step.facts(),
            "backend": self.backend,
            "probes": self._chooser.probes() + others,
            "probe_steps": self._chooser.probe_steps(),
            "probe_s": self._probe_s,
            "chosen_because": self._chooser.because,
            "fell_back_because": self._fell_back_because,
        }

    def _probe(self, batch: Any) -> torch.Tensor:  # noqa: ANN401  as __call__
        """Run a step under the backend that is to be measured next, and measure it."""
        chooser = self._chooser
        began_s = time.perf_counter()
        try:
            self._switch_to(chooser.current)
            loss = self._step(batch)
            self._step.wait()
        except CompilerError as error:
            if chooser.current == "eager":
                raise
            self._failed(error)
            self._go_eager()
            loss = self._step(batch)
        problem, self._problem = self._problem, None
        took_s = FAILED_S if problem else time.perf_counter() - began_s
        seconds = slowest_s(took_s, self._device)
        if seconds == FAILED_S:
            problem = problem or "another trainer could not run it"
            self._say("warning", f"auto: {chooser.current} cannot run this step: {problem}")
            chooser.failed(problem)
        else:
            chooser.ended(seconds)
        if chooser.is_done:
            self._settle()
        return loss

    def _failed(self, error: CompilerError) -> None:
        """Take note of what a backend cannot do; the call itself may go on eagerly."""
        self._problem = str(error)
        if self.is_settled:
            self._fell_back_because = self._problem
            self._say("warning", f"The step goes on eagerly: {error}")

    def _settle(self) -> None:
        self._switch_to(self._chooser.current)
        self._probe_s = self._chooser.probe_s()
        self._run = self._settled
        self._say("compiler", f"auto: {self._chooser.because}")

    def _settled(self, batch: Any) -> torch.Tensor:  # noqa: ANN401  as __call__
        try:
            return self._step(batch)
        except CompilerError as error:
            if self.backend == "eager":
                raise
            self._failed(error)
        self._go_eager()
        return self._step(batch)

    def _switch_to(self, backend: str) -> None:
        """Make the next step run under a backend."""
        if backend == self.backend:
            return
        if self._step.backend == "inductor" and backend == "eager" and not self.is_settled:
            self._is_paused = True
            torch.compiler.set_stance("force_eager")  # what was compiled stays, and rests
            return
        self._resume()
        if backend == self._step.backend:
            return
        self._step.leave()
        self._step = self._make(backend, self._limited(), self._failed)

    def _limited(self) -> TrainingCompilerConfig:
        """Return the settings with a compile time limit beyond which nothing pays back."""
        limit_s = self._chooser.compile_limit_s()
        if limit_s is None or limit_s >= self._config.timeout_s:
            return self._config
        return self._config.model_copy(update={"timeout_s": limit_s})

    def _go_eager(self) -> None:
        self._resume()
        if self._step.backend != "eager":
            leave(self._step)
            self._step = self._make("eager", self._config, self._failed)

    def _resume(self) -> None:
        if self._is_paused:
            self._is_paused = False
            torch.compiler.set_stance("default")
