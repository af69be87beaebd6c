"""One rank of a measurement: its gradients against one process, or steps beside torch's own.

``python -m notebooks.benchmarks.parallel.node JSON`` prints one JSON list of rows at its end.
"""

from __future__ import annotations

import copy
import json
import logging
import sys
import time
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import torch
import torch.distributed as dist
from torch import nn
from torch.nn import functional

from notebooks.benchmarks.parallel.models import language
from smtc_lab.parallel.pipeline.options import PipelineOptions
from smtc_lab.parallel.pipeline.pipeline import ModelPipeline

if TYPE_CHECKING:
    from collections.abc import Iterator

_WIDTH, _LAYERS, _SAMPLES, _PARTS = 1024, 8, 256, 8


def main(told: dict[str, Any]) -> list[dict[str, Any]]:
    """Do what is told, and return its rows.

    Args:
        told: ``how`` (``gradients`` or ``overhead``), ``rank``, ``ranks``, ``store``,
            ``schedules``, ``steps``.
    """
    torch.set_num_threads(1)
    logging.disable(logging.CRITICAL)
    store = dist.FileStore(told["store"], told["ranks"])  # type: ignore[attr-defined]  # torch does not say so
    dist.init_process_group(
        "gloo",
        store=store,
        rank=told["rank"],
        world_size=told["ranks"],
        timeout=timedelta(seconds=120),
    )
    if told["how"] == "gradients":
        return list(_gradients(told["schedules"]))
    return list(_steps(told["steps"]))


def _gradients(schedules: list[str]) -> Iterator[dict[str, Any]]:
    """Yield how far the gradients of this rank are off, relative to those of one process."""
    torch.manual_seed(0)
    whole, inputs, targets, loss_fn = language(words=200, samples=16)
    assert loss_fn is not None  # noqa: S101  it has one
    staged = {schedule: copy.deepcopy(whole) for schedule in schedules}
    trained = dict(whole.named_parameters())
    computed = torch.autograd.grad(loss_fn(whole(inputs), targets), list(trained.values()))
    right = dict(zip(trained, computed, strict=True))
    for schedule, model in staged.items():
        pipeline = ModelPipeline(
            model,
            torch.optim.SGD(model.parameters(), lr=0.1),
            loss_fn,
            PipelineOptions(microbatches=8, schedule=schedule),
        )
        pipeline.step(inputs, targets)
        pairs = [
            (one.grad, right[name])
            for name, one in model.named_parameters()
            if one.grad is not None
        ]
        off = sum([float((mine - theirs).square().sum()) for mine, theirs in pairs])
        norm = sum([float(theirs.square().sum()) for _, theirs in pairs])
        yield {
            "what": "gradients",
            "schedule": schedule,
            "ranks": dist.get_world_size(),
            "off": (off / norm) ** 0.5,
        }


def _steps(steps: int) -> Iterator[dict[str, Any]]:
    """Yield what steps of one model take in our pipeline and in torch's own, in turns."""
    torch.manual_seed(0)
    model = nn.Sequential(
        *(nn.Sequential(nn.Linear(_WIDTH, _WIDTH), nn.GELU()) for _ in range(_LAYERS))
    )
    values = torch.randn(_SAMPLES, _WIDTH)
    ways = {
        "torch": _torch_step(copy.deepcopy(model), values),
        "ours": _our_step(model, values),
    }
    for number in range(steps + 2):
        for how, step in ways.items():
            dist.barrier()
            began_s = time.perf_counter()
            step()
            dist.barrier()
            if number > 1:  # buffers are made in the first
                yield {
                    "what": "step",
                    "how": how,
                    "step": number,
                    "seconds": time.perf_counter() - began_s,
                }


def _our_step(model: nn.Module, values: torch.Tensor) -> Any:  # noqa: ANN401  a function
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    options = PipelineOptions(microbatches=_PARTS)
    pipeline = ModelPipeline(model, optimizer, functional.mse_loss, options)

    def step() -> None:
        optimizer.zero_grad()
        pipeline.step(values, values)

    return step


def _torch_step(model: nn.Sequential, values: torch.Tensor) -> Any:  # noqa: ANN401  a function
    from torch.distributed.pipelining import PipelineStage, Schedule1F1B  # noqa: PLC0415  a second

    rank, ranks = dist.get_rank(), dist.get_world_size()
    each = _LAYERS // ranks
    own = model[rank * each : (rank + 1) * each]
    optimizer = torch.optim.SGD(own.parameters(), lr=1e-3)
    schedule = Schedule1F1B(
        PipelineStage(own, rank, ranks, torch.device("cpu")),
        _PARTS,
        loss_fn=functional.mse_loss,
    )
    inputs = (values,) if rank == 0 else ()
    target = values if rank == ranks - 1 else None

    def step() -> None:
        optimizer.zero_grad()
        losses: list[torch.Tensor] = []
        schedule.step(*inputs, target=target, losses=None if target is None else losses)
        # as ours does: each rank knows the mean loss
        mean = torch.stack(losses).mean() if losses else torch.zeros(())
        dist.broadcast(mean, ranks - 1)

    return step


if __name__ == "__main__":
    sys.stdout.write(json.dumps(main(json.loads(sys.argv[1]))) + "\n")
