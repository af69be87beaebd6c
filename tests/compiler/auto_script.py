"""Trains under ``auto``; prints what was seen as one line of JSON.

Steps are made slow on one device, so that which backend is the fastest is known.
"""

from __future__ import annotations

import json
import os
import sys
import time
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil
import torch
from torch import nn

from smtc_lab.compiler.compilation import Compilation
from smtc_lab.spec.compiler import TrainingCompilerConfig

sys.path.insert(0, str(Path(__file__).parents[2]))
from tests.twins import distance, no_toss, twins

if TYPE_CHECKING:
    from tests.twins import Result, Toss

MOST_STEPS = 300
STEPS_AFTER = 10
STEP_S = 0.02
SLOW_STEP_S = 0.3
"""Far beyond what a busy machine makes of a quick step."""


def workload() -> tuple[nn.Module, torch.optim.Optimizer]:
    torch.manual_seed(1)
    model = nn.Sequential(
        nn.Linear(6, 8), nn.BatchNorm1d(8), nn.Linear(8, 4), nn.BatchNorm1d(4)
    )
    return model, torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)


def learn(model: Any, optimizer: Any, batch: torch.Tensor) -> torch.Tensor:
    optimizer.zero_grad()
    loss: torch.Tensor = model(batch).square().mean() + model[0](batch).mean()
    loss.backward()
    optimizer.step()
    return loss.detach()


def report_steps(compilation: Compilation) -> int:
    report = compilation.report()
    return 0 if report is None else report.probe_steps


def main() -> None:
    """Train twice: eagerly, and under ``auto`` while steps on one device are slow."""
    warnings.simplefilter("error")
    slow, num_steps = sys.argv[1], int(sys.argv[2])

    def train_step(model: nn.Module, optimizer: Any, batch: torch.Tensor) -> torch.Tensor:
        is_slow = next(model.parameters()).device.type == slow
        time.sleep(SLOW_STEP_S if is_slow else STEP_S)
        return learn(model, optimizer, batch)

    data = torch.randn(MOST_STEPS, 4, 6, generator=torch.Generator().manual_seed(2))
    compilation = Compilation(
        TrainingCompilerConfig(timeout_s=120, fused_optimizer=False),
        folder=None,
        max_steps=num_steps,
        rank=0,
        world_size=1,
        say=lambda *words: sys.stderr.write(f"{words}\n"),
    )
    compilation.prepare()
    model, optimizer = workload()
    step: Any = compilation.compile(train_step, model, optimizer)
    losses: list[float] = []
    for number, batch in enumerate(data):
        if step.is_settled and len(losses) == report_steps(compilation) + STEPS_AFTER:
            break
        losses.append(float(step(batch)))
        compilation.step_ended(number, 0.01)
    report: Any = compilation.report()
    from torch_xla.debug import metrics

    compiled = metrics.metric_data("CompileTime")
    compilation.close()

    def eagerly(toss: Toss) -> Result:
        plain, plain_optimizer = workload()
        found = []
        for batch in data[: len(losses)]:
            toss(plain)
            found.append(learn(plain, plain_optimizer, batch))
        return {"losses": torch.stack(found)}

    expected = eagerly(no_toss)
    seen = {
        "backend": report.backend,
        "losses": losses,
        "expected": expected["losses"].tolist(),
        "distance": distance({"losses": torch.tensor(losses)}, expected, twins(eagerly)),
        "compilations": report.compile_time.compilations if report.compile_time else None,
        "xla_compilations": compiled[0] if compiled else 0,
        "copies_left": len(psutil.Process(os.getpid()).children()),
        "probes": [probe.model_dump() for probe in report.probes],
        "probe_steps": report.probe_steps,
    }
    sys.stdout.write(json.dumps(seen) + "\n")


if __name__ == "__main__":
    main()
