"""Model and optimizer as one process has them, from any layout and into any other."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import torch
import torch.distributed as dist
from torch.distributed.checkpoint.state_dict import (
    StateDictOptions,
    get_model_state_dict,
    get_optimizer_state_dict,
    set_model_state_dict,
    set_optimizer_state_dict,
)

from smtc_lab.errors import EntryPointError
from smtc_lab.parallel.group import is_joined, on_the_wire

if TYPE_CHECKING:
    from collections.abc import Mapping


def is_live(value: object) -> bool:
    """Whether a part of a checkpoint is a model or an optimizer, and not yet its state."""
    return isinstance(value, (torch.nn.Module, torch.optim.Optimizer))


def full_state(parts: Mapping[str, Any]) -> dict[str, Any]:
    """Return parts of a checkpoint with models and optimizers as one process's state.

    All ranks ask for it at the same place; only rank 0 gets what is in the models.

    Args:
        parts: Models, optimizers (of the models) and whatever else, by name.

    Raises:
        EntryPointError: There is an optimizer, but not one model.
    """
    options = StateDictOptions(full_state_dict=True, cpu_offload=True)
    states: dict[str, Any] = {}
    for name, value in parts.items():
        if isinstance(value, torch.nn.Module):
            states[name] = get_model_state_dict(value, options=options)
        elif isinstance(value, torch.optim.Optimizer):
            states[name] = get_optimizer_state_dict(
                _model_of(parts, name), value, options=options
            )
        else:
            states[name] = value
    return states


def load_full_state(
    parts: Mapping[str, Any], found: tuple[dict[str, Any], int] | None
) -> tuple[dict[str, Any], int] | None:
    """Give models and optimizers what a checkpoint holds; return its other parts and its step.

    Args:
        parts: Models and optimizers by the names of the checkpoint.
        found: Parts and step as rank 0 read them; of the other ranks it is not looked at.

    Returns:
        The other parts and the step, on every rank; None: there is no checkpoint.

    Raises:
        EntryPointError: The checkpoint has no such part.
    """
    several = is_joined()
    state: dict[str, Any] = {}
    rest, step, missing = {}, -1, ""
    if found is not None and (not several or dist.get_rank() == 0):
        state, step = found
        missing = ", ".join(sorted(parts.keys() - state.keys()))
        rest = {name: value for name, value in state.items() if name not in parts}
    if several:
        rest, step, missing = _from_rank_0((rest, step, missing))
    if step < 0:
        return None
    if missing:
        raise EntryPointError(
            f"The checkpoint of step {step} has no {missing}. Load what was saved, by the same "
            "names."
        )
    options = StateDictOptions(full_state_dict=True, broadcast_from_rank0=several)
    for name, part in parts.items():
        values = state.get(name, {})
        if isinstance(part, torch.nn.Module):
            set_model_state_dict(part, values, options=options)
        else:
            before = [dict(group) for group in part.param_groups]
            set_optimizer_state_dict(_model_of(parts, name), part, values, options=options)
            _keep_tuples(part, before)
    return rest, step


def _keep_tuples(optimizer: torch.optim.Optimizer, before: list[dict[str, Any]]) -> None:
    """Make lists tuples again where hyperparameters were tuples, such as Adam's betas."""
    for group, was in zip(optimizer.param_groups, before, strict=True):
        for name, value in group.items():
            if isinstance(was.get(name), tuple) and isinstance(value, list):
                group[name] = tuple(value)


def _model_of(parts: Mapping[str, Any], name: str) -> torch.nn.Module:
    models = [one for one in parts.values() if isinstance(one, torch.nn.Module)]
    if len(models) != 1:
        raise EntryPointError(
            f"The optimizer {name!r} goes with {len(models)} models, but its state is told by "
            "the names of one. Give the model and its optimizer, and the others in a module."
        )
    return models[0]


def _from_rank_0(values: Any) -> Any:  # noqa: ANN401  what a checkpoint may hold
    """Return the value of rank 0; read as safely as a checkpoint, never unpickled."""
    file = io.BytesIO()
    torch.save(values, file)
    length = on_the_wire(torch.tensor([file.getbuffer().nbytes]))
    dist.broadcast(length, 0)
    sent = torch.frombuffer(bytearray(file.getvalue()), dtype=torch.uint8)
    if dist.get_rank():
        sent = torch.zeros(int(length), dtype=torch.uint8)
    sent = on_the_wire(sent)
    dist.broadcast(sent, 0)
    return torch.load(io.BytesIO(sent.cpu().numpy().tobytes()), weights_only=True)
