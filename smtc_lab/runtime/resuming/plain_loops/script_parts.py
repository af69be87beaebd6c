"""Models, optimizers, schedulers and scalers of a script that names none of them."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

import torch
from torch import nn
from torch.optim import Optimizer
from torch.optim.lr_scheduler import LRScheduler

from smtc_lab.errors import EntryPointError

if TYPE_CHECKING:
    from collections.abc import Iterator

_KINDS: tuple[Any, ...] = (nn.Module, Optimizer, LRScheduler, torch.amp.GradScaler)


class ScriptParts:
    """All that a script has made that has a state, in the order in which it made them.

    Copies (``copy.deepcopy``) are among them. What has gone since is not.
    """

    def __init__(self) -> None:
        """Note each one from now on."""
        self._made: dict[Any, list[weakref.ref[Any]]] = {kind: [] for kind in _KINDS}
        self._clears: weakref.WeakSet[Optimizer] = weakref.WeakSet()
        self.is_armed = False
        """Whether ``load_state_dict`` gives state back; else it does nothing."""

        self.first_trained = -1
        """Number of the pass in which the first step was taken; -1: none was."""

        for kind in _KINDS:
            self._watch(kind)
        self._note_zero_grad()

    def _watch(self, kind: Any) -> None:  # noqa: ANN401  a class
        made = self._made[kind]

        def __new__(cls: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401, N807  any class of its kind
            plain = super(kind, cls).__new__
            one = plain(cls) if plain is object.__new__ else plain(cls, *args, **kwargs)
            made.append(weakref.ref(one))
            return one

        kind.__new__ = staticmethod(__new__)

    def _note_zero_grad(self) -> None:
        """Note the optimizers whose gradients the script clears for each step."""
        plain, plain_model = Optimizer.zero_grad, nn.Module.zero_grad

        def zero_grad(optimizer: Any, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401  torch's
            self._clears.add(optimizer)
            plain(optimizer, *args, **kwargs)

        def zero_grad_of_model(model: Any, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401  torch's
            self._clears.update(self._alive(Optimizer))
            plain_model(model, *args, **kwargs)

        Optimizer.zero_grad = zero_grad  # type: ignore[method-assign, assignment]
        nn.Module.zero_grad = zero_grad_of_model  # type: ignore[method-assign, assignment]

    @property
    def has_optimizer(self) -> bool:
        """Whether there is an optimizer now."""
        return bool(self._alive(Optimizer))

    def state_dict(self) -> dict[str, Any]:
        """Return the state of all, with gradients that the next step adds to."""
        return {
            "first_trained": self.first_trained,
            "models": [dict(_tensors(one)) for one in self._models()],
            "optimizers": [one.state_dict() for one in self._alive(Optimizer)],
            "schedulers": [one.state_dict() for one in self._alive(LRScheduler)],
            "scalers": [one.state_dict() for one in self._alive(torch.amp.GradScaler)],
            "gradients": [self._gradients(one) for one in self._alive(Optimizer)],
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Give all their state back, where that is due.

        Raises:
            EntryPointError: The script has made other ones than before.
        """
        self.first_trained = int(state["first_trained"])
        if not self.is_armed:
            return
        models = self._models()
        self._check("models", len(state["models"]), len(models))
        for model, tensors in zip(models, state["models"], strict=True):
            own = dict(_tensors(model))
            if {name: one.shape for name, one in own.items()} != {
                name: one.shape for name, one in tensors.items()
            }:
                raise EntryPointError(
                    f"The script makes another {type(model).__name__} than before. Go on with "
                    "the script that wrote the checkpoint, or train from the begin in another "
                    "checkpoint folder."
                )
            with torch.no_grad():
                for name, one in own.items():
                    one.copy_(tensors[name])
        for name, kind in _LOADED.items():
            alive = self._alive(kind)
            self._check(name, len(state[name]), len(alive))
            for part, found in zip(alive, state[name], strict=True):
                part.load_state_dict(found)
        for optimizer, gradients in zip(
            self._alive(Optimizer), state["gradients"], strict=True
        ):
            for number, parameter in enumerate(_parameters(optimizer)):
                kept = gradients.get(number)
                parameter.grad = None if kept is None else kept.to(parameter.device).clone()

    def _gradients(self, optimizer: Optimizer) -> dict[int, torch.Tensor]:
        """Return the gradients that are there and that no ``zero_grad`` will clear."""
        if optimizer in self._clears:
            return {}
        gradients = enumerate(one.grad for one in _parameters(optimizer))
        return {number: one for number, one in gradients if one is not None}

    def _models(self) -> list[nn.Module]:
        """Return the models that are part of no other, and have parameters or buffers."""
        alive = self._alive(nn.Module)
        inner = {id(child) for one in alive for child in one.children()}
        return [one for one in alive if id(one) not in inner and any(_tensors(one))]

    def _alive(self, kind: Any) -> list[Any]:  # noqa: ANN401  instances of a class
        made = self._made[kind]
        made[:] = [one for one in made if one() is not None]
        found = [one() for one in made]
        return [one for one in found if one is not None and vars(one)]

    def _check(self, what: str, before: int, now: int) -> None:
        if before != now:
            raise EntryPointError(
                f"The script had {before} {what} and has {now} where it goes on. Go on with "
                "the script that wrote the checkpoint, or train from the begin in another "
                "checkpoint folder."
            )


_LOADED = {
    "optimizers": Optimizer,
    "schedulers": LRScheduler,
    "scalers": torch.amp.GradScaler,
}


def _tensors(model: nn.Module) -> Iterator[tuple[str, torch.Tensor]]:
    yield from model.named_parameters()
    yield from model.named_buffers()


def _parameters(optimizer: Optimizer) -> list[torch.Tensor]:
    return [one for group in optimizer.param_groups for one in group["params"]]
