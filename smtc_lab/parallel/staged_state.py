"""Parts of a checkpoint whose model is cut into stages, or its layers into parts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import torch
import torch.distributed as dist

from smtc_lab.errors import EntryPointError
from smtc_lab.parallel.full_state import from_rank_0, is_live

if TYPE_CHECKING:
    from collections.abc import Mapping


class SharedModel(Protocol):
    """A model of which each trainer has something else, with its optimizer."""

    model: torch.nn.Module
    optimizer: torch.optim.Optimizer

    def full_state(self) -> dict[str, Any]:
        """Return ``model`` and ``optimizer`` as of one process, on rank 0; else nothing."""

    def load_full_state(self, state: Mapping[str, Any] | None) -> None:
        """Take over what ``full_state`` returned; it is looked at on rank 0."""


def full_state_of(shared: SharedModel, parts: Mapping[str, Any]) -> dict[str, Any]:
    """Return parts of a checkpoint with model and optimizer as one process's state.

    All ranks ask for it at the same place; only rank 0 gets what is in the model.

    Args:
        shared: What has the model.
        parts: Its model, its optimizer and whatever else, by name.

    Raises:
        EntryPointError: There is another model or optimizer among the parts.
    """
    names = _names(shared, parts)
    whole = shared.full_state()
    return {
        name: whole.get(names[name]) if name in names else value
        for name, value in parts.items()
    }


def load_full_state_of(
    shared: SharedModel, parts: Mapping[str, Any], found: tuple[dict[str, Any], int] | None
) -> tuple[dict[str, Any], int] | None:
    """Give model and optimizer what a checkpoint holds; return its other parts and its step.

    Args:
        shared: What has the model.
        parts: Its model and its optimizer, by the names of the checkpoint.
        found: Parts and step as rank 0 read them; of the other ranks it is not looked at.

    Returns:
        The other parts and the step, on every rank; None: there is no checkpoint.

    Raises:
        EntryPointError: The checkpoint has no such part, or only one of them is asked for.
    """
    names = _names(shared, parts)
    if len(names) < 2:
        raise EntryPointError(
            f"Only {', '.join(parts)} is to be loaded, but model and optimizer were cut "
            "together. Give both."
        )
    state: dict[str, Any] = {}
    rest, step, missing = {}, -1, ""
    if found is not None and not dist.get_rank():
        state, step = found
        missing = ", ".join(sorted(parts.keys() - state.keys()))
        rest = {name: value for name, value in state.items() if name not in parts}
    rest, step, missing = from_rank_0((rest, step, missing))
    if step < 0:
        return None
    if missing:
        raise EntryPointError(
            f"The checkpoint of step {step} has no {missing}. Load what was saved, by the same "
            "names."
        )
    shared.load_full_state({names[name]: state[name] for name in names if name in state})
    return rest, step


def _names(shared: SharedModel, parts: Mapping[str, Any]) -> dict[str, str]:
    """Return which parts are its model and optimizer."""
    found = {}
    for name, value in parts.items():
        if value is shared.model:
            found[name] = "model"
        elif value is shared.optimizer:
            found[name] = "optimizer"
        elif is_live(value):
            kind = "model" if isinstance(value, torch.nn.Module) else "optimizer"
            raise EntryPointError(
                f"The part {name!r} is another {kind} than the trainers share. Give what "
                "session.prepare() returned, and the state_dict() of others."
            )
    return found
