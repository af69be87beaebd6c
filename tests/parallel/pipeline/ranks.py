"""What each rank of a test does: train in stages, and compare with one process."""

from __future__ import annotations

from typing import Any

import torch
import torch.distributed as dist

from smtc_lab.errors import EntryPointError
from smtc_lab.parallel.arguments import loss_of_output
from smtc_lab.parallel.full_state import full_state
from smtc_lab.parallel.pipeline.options import PipelineOptions
from smtc_lab.parallel.pipeline.pipeline import ModelPipeline
from tests.parallel.pipeline.models import MODELS, OF_TRANSFORMERS

LEAST_SHARE = 1e-2
"""A gradient with less of the norm of the largest is compared with that share of it."""


def join() -> None:
    if not dist.is_initialized():
        dist.init_process_group("gloo")


def made(
    name: str, schedule: str, *, seed: int, **options: Any
) -> tuple[ModelPipeline, Any, Any]:
    """Return a pipeline with a model of a seed, its batch, and its optimizer."""
    make, batch, loss = {**MODELS, **OF_TRANSFORMERS}[name]
    torch.manual_seed(seed)
    model = make()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2, eps=1e-3)
    chosen = PipelineOptions(
        **{"microbatches": 8, "schedule": schedule, "flops_per_byte": 1.0, **options}
    )
    return ModelPipeline(model, optimizer, loss, chosen), batch(), optimizer


def one_process(name: str, steps: int) -> tuple[Any, Any, list[dict[str, Any]]]:
    """Return model and optimizer after some steps of one process, and what each step was."""
    make, (inputs, targets), loss = (
        {**MODELS, **OF_TRANSFORMERS}[name][0],
        {**MODELS, **OF_TRANSFORMERS}[name][1](),
        {**MODELS, **OF_TRANSFORMERS}[name][2] or loss_of_output,
    )
    torch.manual_seed(0)
    model = make()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2, eps=1e-3)
    seen = []
    for _ in range(steps):
        optimizer.zero_grad()
        output = model(**inputs) if isinstance(inputs, dict) else model(inputs)
        value = loss(output, targets)
        value.backward()
        gradients = {
            key: one.grad.clone()
            for key, one in model.named_parameters()
            if one.grad is not None
        }
        norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 0.5)
        seen.append(
            {"loss": float(value.detach()), "norm": float(norm), "gradients": gradients}
        )
        optimizer.step()
    return model, optimizer, seen


def compare(name: str, schedule: str, *, steps: int = 2, **options: Any) -> dict[str, Any]:
    """Return how far the steps of a pipeline are from those of one process, on this rank."""
    join()
    pipeline, (inputs, targets), optimizer = made(
        name, schedule, seed=dist.get_rank(), **options
    )
    whole, whole_optimizer, right = one_process(name, steps)
    off: dict[str, list[float]] = {"loss": [], "norm": [], "gradient": [], "worst": []}
    for step in right:
        optimizer.zero_grad()
        loss = pipeline.step(inputs, targets)
        off["loss"].append(abs(float(loss) / step["loss"] - 1))
        whole_off, worst_off = _off(pipeline.model, step["gradients"])
        off["gradient"].append(whole_off)
        off["worst"].append(worst_off)
        off["norm"].append(abs(float(pipeline.clip_grad_norm(0.5)) / step["norm"] - 1))
        optimizer.step()
    held = [one.numel() for one in pipeline.model.parameters() if not one.is_meta]
    stepped = [one for group in optimizer.param_groups for one in group["params"]]
    state, expected = pipeline.full_state(), _state(whole, whole_optimizer)
    return {
        **{key: max(values) for key, values in off.items()},
        "held": sum(held),
        "whole": sum(one.numel() for one in whole.parameters()),
        "is_own": {id(one) for one in stepped}
        == {id(one) for one in pipeline.model.parameters() if not one.is_meta},
        "is_same_optimizer": pipeline.optimizer is optimizer,
        "state": _state_off(state, expected) if dist.get_rank() == 0 else len(state),
    }


def carry_on(name: str, first: str, then: str) -> dict[str, Any]:
    """Train by one schedule, save, load into another one, and train on."""
    join()
    pipeline, (inputs, targets), optimizer = made(name, first, seed=0)
    pipeline.step(inputs, targets)
    optimizer.step()
    state = pipeline.full_state()
    optimizer.zero_grad()
    right = float(pipeline.step(inputs, targets))
    optimizer.step()
    losses = []
    for is_built in (False, True):
        other, _, stepping = made(name, then, seed=7)
        if is_built:
            other.step(inputs, targets)
            stepping.zero_grad()
        other.load_full_state(state)
        losses.append(float(other.step(inputs, targets)))
        stepping.step()
        stepping.zero_grad()
        losses.append(float(other.step(inputs, targets)))
    optimizer.zero_grad()
    return {"right": [right, float(pipeline.step(inputs, targets))], "losses": losses}


def refused(name: str, schedule: str, *, batches: Any = None, **options: Any) -> str:
    """Return what is said of a pipeline that cannot be."""
    join()
    try:
        pipeline, batch, _ = made(name, schedule, seed=0, **options)
        for one in batches or [batch]:
            pipeline.step(*one)
    except EntryPointError as error:
        return str(error)
    return "nothing"


def _off(model: torch.nn.Module, right: dict[str, torch.Tensor]) -> tuple[float, float]:
    """Return how far the gradients of this rank are off as a whole, and the worst of them."""
    pairs = [
        (one.grad, right[key])
        for key, one in model.named_parameters()
        if not one.is_meta and key in right
    ]
    assert all(one is not None for one, _ in pairs)
    off = torch.stack([(one - other).norm() for one, other in pairs])
    norms = torch.stack([other.norm() for _, other in pairs])
    whole = float(torch.linalg.vector_norm(off) / torch.linalg.vector_norm(norms))
    return whole, float((off / norms.clamp(min=norms.max() * LEAST_SHARE)).max())


def _state(model: torch.nn.Module, optimizer: torch.optim.Optimizer) -> dict[str, Any]:
    """Return a state as one process saves it."""
    return full_state({"model": model, "optimizer": optimizer})


def _state_off(found: dict[str, Any], right: dict[str, Any]) -> float:
    """Return how far the tensors of a state are off; infinity: something else differs."""
    model, learnt = right["model"], right["optimizer"]["state"]
    if (
        list(found["model"]) != list(model)
        or list(found["optimizer"]["state"]) != list(learnt)
        or found["optimizer"]["param_groups"] != right["optimizer"]["param_groups"]
    ):
        return float("inf")
    pairs = [(found["model"][key], value) for key, value in model.items()]
    for key, values in learnt.items():
        own = found["optimizer"]["state"][key]
        if own.keys() != values.keys():
            return float("inf")
        pairs += [(own[part], value) for part, value in values.items()]
    return max(float((one - other).abs().max()) for one, other in pairs)
