"""What each rank of a test does: train with parts of layers, and compare with one process."""

from __future__ import annotations

from typing import Any

import torch
import torch.distributed as dist

from smtc_lab.parallel.full_state import full_state
from smtc_lab.parallel.tensor.model import TensorModel
from smtc_lab.parallel.tensor.parts import TensorParts, divide
from tests.parallel.tensor.models import MODELS, OF_TRANSFORMERS

STEPS = 3


def join() -> None:
    if not dist.is_initialized():
        dist.init_process_group("gloo")


def made(name: str, *, seed: int) -> tuple[torch.nn.Module, torch.optim.Optimizer]:
    torch.manual_seed(seed)
    model = {**MODELS, **OF_TRANSFORMERS}[name][0]()
    return model, torch.optim.AdamW(model.parameters(), lr=1e-2, eps=1e-3)


def loss_of(name: str, model: torch.nn.Module) -> torch.Tensor:
    _, batch, loss = {**MODELS, **OF_TRANSFORMERS}[name]
    inputs, targets = batch()
    output: Any = model(**inputs) if isinstance(inputs, dict) else model(inputs)
    found: torch.Tensor = output.loss if loss is None else loss(output, targets)
    return found


def compare(name: str) -> dict[str, Any]:
    """Return how far some steps are from those of one process, on this rank."""
    join()
    right, right_optimizer = made(name, seed=0)
    model, optimizer = made(name, seed=dist.get_rank())  # all begin with rank 0's values
    parts = divide(model, optimizer, dist.group.WORLD)
    tensor = TensorModel(model, optimizer, parts, wrapped=model, speaks=True)
    off: dict[str, float] = {"loss": 0.0, "norm": 0.0, "gradient": 0.0}
    for _ in range(STEPS):
        for one in (optimizer, right_optimizer):
            one.zero_grad()
        loss, expected = loss_of(name, model), loss_of(name, right)
        loss.backward()
        expected.backward()
        off["loss"] = max(off["loss"], abs(float(loss.detach() / expected.detach()) - 1))
        off["gradient"] = max(off["gradient"], gradients_off(model, right, parts))
        norm = torch.nn.utils.clip_grad_norm_(right.parameters(), 0.5)
        off["norm"] = max(off["norm"], abs(float(tensor.clip_grad_norm(0.5) / norm) - 1))
        optimizer.step()
        right_optimizer.step()
    with torch.no_grad():
        evaluated = loss_of(name, model.eval())
        torch.backends.mha.set_fastpath_enabled(
            False
        )  # which leaves zeros where words are padded
        expected = loss_of(name, right.eval())
        torch.backends.mha.set_fastpath_enabled(True)
    off["evaluated"] = abs(float(evaluated / expected) - 1)
    held = sum(one.numel() for one in model.parameters())
    whole = full_state({"model": right, "optimizer": right_optimizer})
    state = tensor.full_state()
    return {
        **off,
        "held": held,
        "expected": parts.total - parts.divided + parts.divided // parts.ranks,
        "share": parts.divided / parts.total,
        "state": state_off(state, whole) if dist.get_rank() == 0 else len(state),
    }


def gradients_off(model: torch.nn.Module, right: torch.nn.Module, parts: TensorParts) -> float:
    """Return how far the gradients of this rank are off, all of them together."""
    expected = dict(right.named_parameters())
    off, norm = 0.0, 0.0
    for name, one in model.named_parameters():
        whole = expected[name].grad
        assert (one.grad is None) == (whole is None), name
        if one.grad is not None and whole is not None:
            part = parts.part(name, whole)
            off += float((one.grad - part).square().sum())
            norm += float(part.square().sum())
    return (off / norm) ** 0.5


def state_off(found: dict[str, Any], right: dict[str, Any]) -> float:
    """Return how far the tensors of a state are off; infinity: something else differs."""
    model, learnt = right["model"], right["optimizer"]["state"]
    if (
        list(found["model"]) != list(model)
        or found["optimizer"]["state"].keys() != learnt.keys()
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


def carry_on(name: str) -> dict[str, Any]:
    """Load what one process has, train on, and say how far what is saved then is off."""
    join()
    right, right_optimizer = made(name, seed=0)
    loss_of(name, right).backward()
    right_optimizer.step()
    state = full_state({"model": right, "optimizer": right_optimizer})
    model, optimizer = made(name, seed=7)
    parts = divide(model, optimizer, dist.group.WORLD)
    tensor = TensorModel(model, optimizer, parts, wrapped=model, speaks=True)
    tensor.load_full_state(state if dist.get_rank() == 0 else None)
    saved = tensor.full_state()
    exact = state_off(saved, state) if dist.get_rank() == 0 else 0.0
    for one, stepping in ((model, optimizer), (right, right_optimizer)):
        stepping.zero_grad()
        loss_of(name, one).backward()
        stepping.step()
    again = full_state({"model": right, "optimizer": right_optimizer})
    found = tensor.full_state()
    is_first = dist.get_rank() == 0
    return {
        "exact": exact,
        "after": state_off(found, again) if is_first else 0.0,
    }
