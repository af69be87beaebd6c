"""Which backends there are here, and how a step is made under one of them."""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING

import torch

from smtc_lab.compiler.eager import EagerStep
from smtc_lab.errors import CompilerError

if TYPE_CHECKING:
    from collections.abc import Callable

    from smtc_lab.compiler.step import CompiledStep, TrainStep
    from smtc_lab.spec.compiler import TrainingCompilerConfig

    MakeStep = Callable[
        [str, TrainingCompilerConfig, Callable[[CompilerError], None]], CompiledStep
    ]
    """Called with a backend, the settings, and what to call when the model's own call goes on
    eagerly because it cannot be compiled."""

_FEWEST_STEPS_FOR_XLA = 50
"""Steps from which on ``auto`` tries XLA: importing it alone takes two seconds."""


def step_maker(
    train_step: TrainStep,
    model: torch.nn.Module,
    optimizer: torch.optim.Optimizer,
    *,
    not_xla: str | None,
) -> MakeStep:
    """Return a function that makes a training step under the backend of a name.

    Args:
        train_step: What is compiled.
        model: The model that it trains.
        optimizer: The optimizer that steps.
        not_xla: Why XLA cannot be used in this process; None: it can.
    """

    def make(
        backend: str,
        config: TrainingCompilerConfig,
        on_failure: Callable[[CompilerError], None],
    ) -> CompiledStep:
        if backend == "inductor":
            from smtc_lab.compiler.inductor.backend import InductorStep  # noqa: PLC0415  the others do without

            return InductorStep(
                train_step, model, optimizer, config=config, on_failure=on_failure
            )
        if backend == "xla":
            if not_xla is not None:
                raise CompilerError(not_xla)
            from smtc_lab.compiler.xla.backend import XlaStep  # noqa: PLC0415  the others do without

            return XlaStep(train_step, model, optimizer, config=config)
        return EagerStep(train_step, model, optimizer, config=config)

    return make


def why_not_xla(*, world_size: int, max_steps: int | None) -> str | None:
    """Return why ``auto`` does not try XLA; None: it does.

    Args:
        world_size: Trainers of the job.
        max_steps: Steps of the job; None: not known.
    """
    if world_size > 1:
        return f"not tried: it runs in one trainer, and the job has {world_size}"
    if torch.cuda.is_available():
        return "not tried: torch_xla 2.9 computes on CPU and TPU, not on this GPU"
    if max_steps is not None and max_steps < _FEWEST_STEPS_FOR_XLA:
        return f"not tried: {max_steps} steps are too few to pay for importing it"
    if importlib.util.find_spec("torch_xla") is None:
        return (
            "not tried: this Python environment has no torch_xla; measure XLA in its own by "
            "'smtc-lab compare --compiler eager,xla'"
        )
    return None
