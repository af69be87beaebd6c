"""Model and optimizer as one process has them, from any layout and into any other."""

from __future__ import annotations

import io
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any

import torch
import torch.distributed as dist

from smtc_lab.errors import EntryPointError
from smtc_lab.parallel.group import is_joined, on_the_wire

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


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
    torchs = torchs_states()
    options = torchs.StateDictOptions(full_state_dict=True, cpu_offload=True)
    states: dict[str, Any] = {}
    for name, value in parts.items():
        if isinstance(value, torch.nn.Module):
            states[name] = torchs.get_model_state_dict(value, options=options)
        elif isinstance(value, torch.optim.Optimizer):
            states[name] = torchs.get_optimizer_state_dict(
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
        EntryPointError: The checkpoint has no such part, or that of another model.
    """
    several = is_joined()
    state: dict[str, Any] = {}
    rest, step, missing = {}, -1, ""
    stateless: dict[str, Any] = {}
    if found is not None and (not several or dist.get_rank() == 0):
        state, step = found
        missing = ", ".join(sorted(parts.keys() - state.keys()))
        rest = {name: value for name, value in state.items() if name not in parts}
        stateless = {name: state[name] for name in parts if _is_stateless(state.get(name))}
    if several:
        rest, step, missing, stateless = from_rank_0((rest, step, missing, stateless))
    if step < 0:
        return None
    if missing:
        raise EntryPointError(
            f"The checkpoint of step {step} has no {missing}. Load what was saved, by the same "
            "names."
        )
    torchs = torchs_states()
    options = torchs.StateDictOptions(full_state_dict=True, broadcast_from_rank0=several)
    for name, part in parts.items():
        values = state.get(name, {})
        with fits(name, step):
            if isinstance(part, torch.nn.Module):
                torchs.set_model_state_dict(part, values, options=options)
                continue
            before = [dict(group) for group in part.param_groups]
            model = _model_of(parts, name)
            if name in stateless:  # torch finds no device in it to send by
                torchs.set_optimizer_state_dict(model, part, stateless[name])
            else:
                torchs.set_optimizer_state_dict(model, part, values, options=options)
            _keep_tuples(part, before)
    return rest, step


@contextmanager
def fits(name: str, step: int) -> Iterator[None]:
    """Give a part of a checkpoint its state within this, in which torch finds what differs.

    Args:
        name: Of the part.
        step: Steps that had ended.

    Raises:
        EntryPointError: The state is that of another model or optimizer.
    """
    try:
        yield
    except (RuntimeError, ValueError, KeyError, TypeError, AssertionError) as error:
        why = (str(error).strip().splitlines() or [type(error).__name__])[-1].strip()
        raise EntryPointError(
            f"The {name} of the checkpoint of step {step} is another one than the script's: "
            f"{why} Go on with the script that wrote it, or train from the begin in another "
            "checkpoint folder."
        ) from error


def _is_stateless(values: Any) -> bool:  # noqa: ANN401  what a checkpoint may hold
    """Whether it is what an optimizer such as SGD without momentum learnt: nothing."""
    return (
        isinstance(values, dict)
        and values.keys() == {"state", "param_groups"}
        and (not values["state"])
    )


def torchs_states() -> Any:  # noqa: ANN401  a module
    """Return torch's functions; importing them takes seconds, which most do without."""
    import_module("torch._dynamo")  # they ask for it when they are first called
    from torch.distributed.checkpoint import state_dict  # noqa: PLC0415  see above

    return state_dict


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


def packed(values: Any) -> torch.Tensor:  # noqa: ANN401  what a checkpoint may hold
    """Return values as bytes that can be sent; ``unpacked`` makes values of them again."""
    file = io.BytesIO()
    torch.save(values, file)
    return torch.frombuffer(bytearray(file.getvalue()), dtype=torch.uint8)


def unpacked(sent: torch.Tensor) -> Any:  # noqa: ANN401  as above
    """Return what was ``packed``; read as safely as a checkpoint, never unpickled."""
    return torch.load(io.BytesIO(sent.cpu().numpy().tobytes()), weights_only=True)


def from_rank_0(values: Any) -> Any:  # noqa: ANN401  as above
    """Return the value of rank 0."""
    return from_first(values, None)


def from_first(values: Any, group: Any) -> Any:  # noqa: ANN401  as above
    """Return the value of the first rank of a group; None: of all ranks."""
    sent = packed(values)
    length = on_the_wire(torch.tensor([sent.numel()]))
    dist.broadcast(length, group=group, group_src=0)
    if dist.get_rank(group):
        sent = torch.zeros(int(length), dtype=torch.uint8)
    sent = on_the_wire(sent)
    dist.broadcast(sent, group=group, group_src=0)
    return unpacked(sent)
