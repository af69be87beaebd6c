"""The step that finds its own backend: measures each one on real steps, and keeps the best."""

from __future__ import annotations

import math
import time
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn

import torch

from smtc_lab.compiler.choosing.apart import StepsApart, tried_apart
from smtc_lab.compiler.choosing.chooser import Chooser
from smtc_lab.compiler.choosing.guarded import leave
from smtc_lab.compiler.choosing.trial import Probing
from smtc_lab.compiler.precision import device_of
from smtc_lab.compiler.xla.setup import prepare_xla
from smtc_lab.errors import CompilerError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from smtc_lab.compiler.backends import MakeStep
    from smtc_lab.compiler.step import CompiledStep
    from smtc_lab.spec.compiler import TrainingCompilerConfig


class AutoStep:
    """Runs each step under the backend that its trial wants next.

    Where the trial says so, a backend is tried in a copy of this process, on the batches that
    eager steps then take here. A batch whose step a backend could not run is run again eagerly,
    so none is lost.
    """

    def __init__(  # noqa: PLR0913  what a trial needs, by name
        self,
        make: MakeStep,
        model: torch.nn.Module,
        trial: Probing,
        *,
        apart: Iterable[str],
        config: TrainingCompilerConfig,
        say: Callable[[str, str], None],
    ) -> None:
        """Begin eagerly.

        Args:
            make: Makes a step under a backend.
            model: The model that it trains.
            trial: What is tried; new.
            apart: Backends whose steps are taken in a copy of this process.
            config: Settings of the job.
            say: Tells people; called with a kind of event and a sentence.
        """
        self._make = make
        self._device = device_of(model)
        self._config = config
        self._say = say
        self._trial = trial
        self._chooser = trial.chooser
        self._are_apart = tuple(apart)
        self._is_paused = False
        self._fell_back_because: str | None = None
        self._apart: dict[str, StepsApart] = {}
        self._run = self._first
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
        self._end_copies()
        self._resume()
        self._step.leave()

    def facts(self) -> dict[str, Any]:
        """Return what the backend knows, what was measured and why it was chosen."""
        return {
            **self._step.facts(),
            **self._trial.facts(),
            "backend": self.backend,
            "fell_back_because": self._fell_back_because,
        }

    def _first(self, batch: Any) -> torch.Tensor:  # noqa: ANN401  as __call__
        """Copy this process before anything runs backward in it: then XLA works in the copy."""
        for backend in self._are_apart:
            with suppress(OSError):  # no memory for a copy: it is tried here
                self._apart[backend] = StepsApart(partial(self._make_apart, backend))
        if "xla" in self._apart:
            with suppress(CompilerError):  # its copy tells
                prepare_xla()  # or it could not be kept
        self._run = self._probe
        return self._probe(batch)

    def _make_apart(self, backend: str) -> CompiledStep:
        def failed(error: CompilerError) -> NoReturn:
            raise error

        self._step.leave()
        return self._make(backend, self._config, failed)

    def _probe(self, batch: Any) -> torch.Tensor:  # noqa: ANN401  as __call__
        """Run a step under the backend that is to be measured next, and measure it."""
        trial, chooser = self._trial, self._chooser
        while not chooser.is_done and chooser.current in self._apart:
            self._probe_apart(batch)
        if chooser.is_done:
            self._settle()
            return self._settled(batch)
        began_s = time.perf_counter()
        try:
            self._switch_to(chooser.current)
            loss = self._step(batch)
            self._step.wait()
        except CompilerError as error:
            if chooser.current == "eager":
                raise
            trial.failed(error)
            self._go_eager()
            loss = self._step(batch)
        trial.ended(time.perf_counter() - began_s, self._device)
        if self.is_settled:
            self._settle()
        return loss

    def _probe_apart(self, batch: Any) -> None:  # noqa: ANN401  as __call__
        """Take a step in a copy of this process, and measure it."""
        trial, name = self._trial, self._chooser.current
        limit_s = min(self._chooser.compile_limit_s() or math.inf, self._config.timeout_s)
        began_s = time.perf_counter()
        try:
            seconds = self._apart[name].take(batch, limit_s=limit_s)
        except CompilerError as error:
            seconds = time.perf_counter() - began_s
            trial.failed(error)
        trial.ended(seconds, self._device)
        if self._chooser.current not in {name, "eager"}:
            self._apart[name].close()

    def _settle(self) -> None:
        """Stay with the backend that is kept."""
        self._end_copies()
        self._run = self._settled
        try:
            self._switch_to(self._chooser.current)
        except CompilerError as error:
            self._failed(error)

    def _settled(self, batch: Any) -> torch.Tensor:  # noqa: ANN401  as __call__
        try:
            return self._step(batch)
        except CompilerError as error:
            if self.backend == "eager":
                raise
            self._failed(error)
        self._go_eager()
        return self._step(batch)

    def _end_copies(self) -> None:
        while self._apart:
            self._apart.popitem()[1].close()

    def _failed(self, error: CompilerError) -> None:
        """Take note of what a backend cannot do; the call itself may go on eagerly."""
        if not self.is_settled:
            self._trial.failed(error)
            return
        self._fell_back_because = str(error)
        self._say("warning", f"The step goes on eagerly: {error}")

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
        try:
            self._step = self._make(backend, self._limited(backend), self._failed)
        except CompilerError:
            self._step = self._make("eager", self._config, self._failed)
            raise

    def _limited(self, backend: str) -> TrainingCompilerConfig:
        """Return the settings with a compile time limit beyond which nothing pays back."""
        # XLA's limit ends the process, so there the job's own holds alone.
        limit_s = None if backend == "xla" else self._chooser.compile_limit_s()
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


def auto_step(  # noqa: PLR0913  what a trial needs, by name
    make: MakeStep,
    model: torch.nn.Module,
    *,
    config: TrainingCompilerConfig,
    num_steps: Callable[[], int | None],
    not_xla: str | None,
    say: Callable[[str, str], None],
) -> AutoStep:
    """Return the step of a session, with a trial of every backend that can be tried.

    Args:
        make: Makes a step under a backend.
        model: The model that it trains.
        config: Settings of the job.
        num_steps: Returns the steps of the job; None: not known.
        not_xla: Why XLA is not tried; None: it is.
        say: Tells people; called with a kind of event and a sentence.
    """
    backends = ["inductor"] if not_xla else ["xla", "inductor"]
    apart = tried_apart(backends, device_of(model), cache=config.cache)
    chooser = Chooser(["eager", *backends], num_steps=num_steps, apart=apart)
    trial = Probing(chooser, not_tried={"xla": not_xla} if not_xla else {}, say=say)
    return AutoStep(make, model, trial, apart=apart, config=config, say=say)
