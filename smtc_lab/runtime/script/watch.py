"""Sees the models and optimizers of an unmodified script, each before its first use."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

import torch
from torch.optim.optimizer import (
    register_optimizer_step_post_hook,
    register_optimizer_step_pre_hook,
)

from smtc_lab.parallel.untraced import untraced

if TYPE_CHECKING:
    from collections.abc import Callable

_STEPS = 2
"""Steps of one optimizer after which every model and optimizer has had its turn: those of a
script that trains several models take turns."""


class ScriptWatch:
    """Tells of each outermost model that is called to be trained, and of each optimizer.

    Calls of modules are watched on the class, since nobody knows the models beforehand. It
    takes itself away when an optimizer has made its second step, so later calls cost nothing.
    """

    def __init__(
        self,
        *,
        on_model: Callable[[torch.nn.Module], None],
        on_optimizer: Callable[[torch.optim.Optimizer], None],
    ) -> None:
        """Begin to watch.

        Args:
            on_model: Called with a model before its first forward.
            on_optimizer: Called with an optimizer before its first step; with those that exist
                by then, before the first forward of the first model.
        """
        self._on_model = on_model
        self._on_optimizer = on_optimizer
        self._models: set[int] = set()
        self._steps: dict[int, int] = {}
        self._made: list[weakref.ref[torch.optim.Optimizer]] = []
        self._plain_init = torch.optim.Optimizer.__init__
        torch.optim.Optimizer.__init__ = self._watched_init()  # type: ignore[method-assign]
        self._plain_call = torch.nn.Module.__call__
        self._watched_call = self._watched()
        self._handles = [
            register_optimizer_step_pre_hook(untraced(self._will_step)),
            register_optimizer_step_post_hook(untraced(self._has_stepped)),
        ]
        self._has_seen_all = False
        self._is_over = False
        torch.nn.Module.__call__ = self._watched_call  # type: ignore[method-assign]

    def close(self) -> None:
        """Watch no longer. Twice is once."""
        self._is_over = True
        torch.nn.Module.__call__ = self._plain_call  # type: ignore[method-assign]
        torch.optim.Optimizer.__init__ = self._plain_init  # type: ignore[method-assign]
        for handle in self._handles:
            handle.remove()

    def _watched(self) -> Callable[..., Any]:
        plain = self._plain_call

        def __call__(module: torch.nn.Module, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401, N807  stands in for torch's own
            # Calls inside of this one are not watched: they are no outermost ones, and a
            # compiler that traces them must find torch's own.
            torch.nn.Module.__call__ = plain  # type: ignore[method-assign]
            try:
                self._called(module)
                return plain(module, *args, **kwargs)
            finally:
                if not self._is_over:
                    torch.nn.Module.__call__ = self._watched_call  # type: ignore[method-assign]

        return __call__

    def _watched_init(self) -> Callable[..., None]:
        plain = self._plain_init

        def __init__(optimizer: torch.optim.Optimizer, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401, N807  stands in for torch's own
            plain(optimizer, *args, **kwargs)
            self._made.append(weakref.ref(optimizer))

        return __init__

    def _called(self, module: torch.nn.Module) -> None:
        if self._has_seen_all:
            self.close()
            return
        if id(module) in self._models or not is_trained(module):
            return
        self._models.add(id(module))
        self._on_model(module)
        for made in self._made:
            optimizer = made()
            if optimizer is not None:
                self._will_step(optimizer)
        self._made.clear()

    def _will_step(self, optimizer: torch.optim.Optimizer, *_: object) -> None:
        if id(optimizer) not in self._steps:
            self._steps[id(optimizer)] = 0
            self._on_optimizer(optimizer)

    def _has_stepped(self, optimizer: torch.optim.Optimizer, *_: object) -> None:
        self._steps[id(optimizer)] = self._steps.get(id(optimizer), 0) + 1
        # Hooks cannot be removed while torch runs through them: the next call does that.
        self._has_seen_all |= self._steps[id(optimizer)] >= _STEPS


def is_trained(module: torch.nn.Module) -> bool:
    """Return whether a call of a module, made now, is to train it."""
    return (
        module.training
        and torch.is_grad_enabled()
        and any(parameter.requires_grad for parameter in module.parameters())
    )
