"""Training steps of a model on resident data, in bf16: the backends in turns."""

from __future__ import annotations

import math
import sys
import time
from typing import TYPE_CHECKING, Any

import torch
from torch.utils.data import default_collate

from notebooks.benchmarks.gpu.task import run_part
from notebooks.benchmarks.harness.rounds import in_turns
from notebooks.benchmarks.networks.models import workload
from smtc_lab.compiler.backends import step_maker
from smtc_lab.spec.compiler import TrainingCompilerConfig

if TYPE_CHECKING:
    from notebooks.benchmarks.gpu.task import Task
    from smtc_lab.compiler.step import CompiledStep
    from smtc_lab.errors import CompilerError

_UNSETTLED_STEPS = 3
"""Steps that compile, or fill caches, and are not steady."""

_ROUND_S = 0.5
_MOST_ROUNDS = 21
_FEWEST_STEPS = 3


def measure_training(task: Task) -> None:
    """Add a row for each backend's start, and one for each backend in each round.

    The first tells ``compile_s`` (first steps beyond as many steady ones), ``step_s`` and
    ``peak_memory_bytes`` (of this backend's model, gradients, optimizer and activations on the
    GPU; None on a CPU), the others ``num_steps`` and the mean ``step_s`` of the round.
    """
    steps: dict[str, CompiledStep] = {}
    batch: Any = None
    for backend in task.backends:
        steps[backend], batch = _start(task, backend)
    step_s = max(_mean_step_s(step, batch, _FEWEST_STEPS) for step in steps.values())
    num_steps = max(_FEWEST_STEPS, math.ceil(_ROUND_S / step_s))
    for number in range(_MOST_ROUNDS):
        for backend in in_turns(task.backends, number):
            mean_s = _mean_step_s(steps[backend], batch, num_steps)
            task.add_row(set_up=backend, round=number, num_steps=num_steps, step_s=mean_s)
        if task.left_s() < 2 * num_steps * step_s * len(steps):
            return


def _start(task: Task, backend: str) -> tuple[CompiledStep, Any]:
    """Make a model and its step, take the first ones, and tell what that took."""
    is_cuda = task.device == "cuda"
    held = torch.cuda.memory_allocated() if is_cuda else 0
    torch.manual_seed(0)
    made = workload(task.model, size=task.size, device=task.device)
    batch = default_collate([made.dataset[number] for number in range(task.batch_size)])
    config = TrainingCompilerConfig(backend=backend, precision="bf16", cache=False)
    make = step_maker(made.train_step, made.model, made.optimizer, not_xla="not measured")
    step = make(config.backend, config, _refuse)
    batch = _on_device(batch, task.device)
    first_s = _mean_step_s(step, batch, _UNSETTLED_STEPS)
    if is_cuda:
        torch.cuda.reset_peak_memory_stats()
    step_s = _mean_step_s(step, batch, _FEWEST_STEPS)
    task.add_row(
        set_up=backend,
        batch_size=task.batch_size,
        compile_s=max(0.0, _UNSETTLED_STEPS * (first_s - step_s)),
        step_s=step_s,
        peak_memory_bytes=torch.cuda.max_memory_allocated() - held if is_cuda else None,
        last_loss=float(step(batch)),
    )
    return step, batch


def _refuse(error: CompilerError) -> None:
    raise error


def _mean_step_s(step: CompiledStep, batch: Any, num_steps: int) -> float:  # noqa: ANN401  whatever the model takes
    step.wait()
    began_s = time.perf_counter()
    for _ in range(num_steps):
        step(batch)
    step.wait()
    return (time.perf_counter() - began_s) / num_steps


def _on_device(batch: Any, device: str) -> Any:  # noqa: ANN401  as above
    if isinstance(batch, dict):
        return {name: value.to(device) for name, value in batch.items()}
    return [value.to(device) for value in batch]


if __name__ == "__main__":
    run_part(measure_training, sys.argv[1:])
