"""The named parts of a training that have a state: taken, and given back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from smtc_lab.errors import EntryPointError
from smtc_lab.parallel.full_state import fits, is_live, torchs_states
from smtc_lab.parallel.torch_names import needed
from smtc_lab.runtime.plain_values import plain
from smtc_lab.runtime.resuming.named_state import by_name

tree_map = needed("torch.utils._pytree:tree_map")

if TYPE_CHECKING:
    from collections.abc import Mapping

    from smtc_lab.parallel.trainers import Trainers


class KeptParts:
    """Models and optimizers, which trainers may share, and whatever else has a state."""

    def __init__(
        self, parts: Mapping[str, Any], *, trainers: Trainers, rank: int, world_size: int
    ) -> None:
        """Look at them.

        Raises:
            EntryPointError: There is none, or one has no state.
        """
        _check(parts)
        self._live = {name: one for name, one in parts.items() if is_live(one)}
        self._others = {name: one for name, one in parts.items() if not is_live(one)}
        self._trainers, self._rank, self._world_size = trainers, rank, world_size
        if world_size > 1 and self._live:
            torchs_states()  # a first save that has to be quick does not wait for it

    def state(self) -> dict[str, Any]:
        """Return the state of each; of what trainers share rank 0 has it. All call this.

        Raises:
            EntryPointError: One holds something that could not be loaded again.
        """
        if self._world_size > 1 and self._live:
            states = self._trainers.full_state(self._live)
            states = {} if self._rank else states
        else:
            states = {name: one.state_dict() for name, one in self._live.items()}
        states |= {name: _state_of(one) for name, one in self._others.items()}
        return {name: plain(one, name) for name, one in states.items()}

    def own(self, states: Mapping[str, Any]) -> dict[str, Any]:
        """Return those that each trainer has for itself."""
        return {name: one for name, one in states.items() if name not in self._live}

    def give(self, states: Mapping[str, Any], *, step: int, world_size: int) -> None:
        """Give each its state back. All trainers call this.

        Args:
            states: What ``state`` returned.
            step: Steps that had ended.
            world_size: Trainers that there were.

        Raises:
            EntryPointError: One has no state there, or that of another model.
        """
        needed = set(self._others) if self._rank else {*self._live, *self._others}
        if missing := sorted(needed - set(states)):
            raise EntryPointError(
                f"The checkpoint of step {step} has no {', '.join(missing)}, but "
                f"{', '.join(sorted(states))}. Keep the same parts by the same names, or train "
                "from the begin in another checkpoint folder."
            )
        if self._live and max(self._world_size, world_size) > 1:
            self._trainers.load_full_state(self._live, (self._named(states), step))
        else:
            for name, one in self._live.items():
                _load(name, one, states[name], step)
        for name, one in self._others.items():
            _load(name, one, states[name], step)

    def _named(self, states: Mapping[str, Any]) -> dict[str, Any]:
        models = [one for one in self._live.values() if isinstance(one, torch.nn.Module)]
        found = {}
        for name, one in self._live.items():
            if name in states:
                has_names = isinstance(one, torch.nn.Module) or len(models) != 1
                found[name] = states[name] if has_names else by_name(states[name], models[0])
        taken: dict[str, Any] = tree_map(
            lambda one: one, found
        )  # torch empties what it is given
        return taken


def _check(parts: Mapping[str, Any]) -> None:
    if not parts:
        raise EntryPointError(
            "session.checkpoint() was given nothing to keep. Name the model, the optimizer, "
            "and whatever else has a state: session.checkpoint(model=model, "
            "optimizer=optimizer)."
        )
    for name, one in parts.items():
        has_state = callable(getattr(one, "state_dict", None)) and callable(
            getattr(one, "load_state_dict", None)
        )
        if not has_state and not isinstance(one, dict):
            raise EntryPointError(
                f"session.checkpoint({name}=…) is of type {type(one).__name__}, which has no "
                "state_dict() and load_state_dict(). Keep numbers of your own in a dict, which "
                "is given its values back."
            )


def _state_of(part: Any) -> Any:  # noqa: ANN401  what a checkpoint may hold
    return dict(part) if isinstance(part, dict) else part.state_dict()


def _load(name: str, part: Any, state: Any, step: int) -> None:  # noqa: ANN401  as above
    if isinstance(part, dict):
        part.clear()
        part.update(state)
        return
    with fits(name, step):
        part.load_state_dict(state)
