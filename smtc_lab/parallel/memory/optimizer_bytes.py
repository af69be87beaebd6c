"""What an optimizer keeps for each parameter, and what its step takes beside that."""

from __future__ import annotations

import weakref
from dataclasses import dataclass
from inspect import signature
from typing import Any

import torch

from smtc_lab.parallel.optimizer import states_kept
from smtc_lab.parallel.pipeline.cutting.recording import SeenOps

_SIDE = 64
_BYTES = 4 * _SIDE * _SIDE
_ALL_AT_ONCE = 1.75
"""From this ratio of what two parameters need to what one does on, they are stepped at once."""


@dataclass(frozen=True, kw_only=True)
class OptimizerBytes:
    """Bytes for each byte of a parameter."""

    state: float
    """What it keeps from step to step: 2 with AdamW."""

    working: float
    """What a step takes beside that, for each parameter that it steps at once."""

    steps_all_at_once: bool
    """Whether it steps all parameters at once, else one after the other."""


ADAMW = OptimizerBytes(state=2.0, working=1.0, steps_all_at_once=True)
"""What is taken where nobody says which optimizer steps, on an accelerator."""


def optimizer_bytes(
    optimizer: torch.optim.Optimizer | None, *, on_accelerator: bool
) -> OptimizerBytes:
    """Return what an optimizer takes, seen in a step of its kind on a small parameter.

    Args:
        optimizer: It is left as it is. None: AdamW.
        on_accelerator: Whether it steps parameters of an accelerator, where torch's optimizers
            step all at once unless told otherwise.
    """
    kind: Any = torch.optim.AdamW if optimizer is None else type(optimizer)
    defaults = {} if optimizer is None else dict(optimizer.defaults)
    if on_accelerator and not defaults.get("fused") and defaults.get("foreach") is None:
        defaults["foreach"] = True
    try:
        one, state = _stepped(kind, defaults, 1)
        two, _ = _stepped(kind, defaults, 2)
    except (TypeError, ValueError, RuntimeError, AssertionError):  # one of a script's own
        return OptimizerBytes(state=states_kept(defaults), working=1.0, steps_all_at_once=True)
    is_all = two > _ALL_AT_ONCE * one > 0
    return OptimizerBytes(state=state, working=one, steps_all_at_once=is_all)


def _stepped(kind: Any, defaults: dict[str, Any], count: int) -> tuple[float, float]:  # noqa: ANN401  a class
    """Return working and kept bytes of a second step, over the bytes of a parameter."""
    parameters = [torch.nn.Parameter(torch.zeros(_SIDE, _SIDE)) for _ in range(count)]
    for each in parameters:
        each.grad = torch.ones_like(each)
    accepted = signature(kind).parameters
    optimizer = kind(
        parameters, **{name: value for name, value in defaults.items() if name in accepted}
    )
    optimizer.step()
    peak = _Peak()
    with SeenOps(peak.seen):
        optimizer.step()
    kept = [
        value.numel() * value.element_size()
        for value in optimizer.state[parameters[0]].values()
        if isinstance(value, torch.Tensor) and value.numel() > 1
    ]
    return peak.most / _BYTES, sum(kept) / _BYTES


class _Peak:
    """The most that operations have in memory at once, of what they make."""

    def __init__(self) -> None:
        self.most = self._live = 0
        self._known: dict[int, int] = {}

    def seen(self, _func: Any, args: Any, _kwargs: Any, out: Any) -> None:  # noqa: ANN401  an operation
        given = {id(one) for one in _flat(args)}
        for value in _flat((out,)):
            storage = value.untyped_storage()
            key = storage._cdata  # noqa: SLF001  its address
            if key in self._known or id(value) in given or value.numel() < 2:
                continue
            self._known[key] = storage.nbytes()
            self._live += self._known[key]
            self.most = max(self.most, self._live)
            weakref.finalize(storage, self._freed, key).atexit = False

    def _freed(self, key: int) -> None:
        self._live -= self._known.pop(key)


def _flat(values: Any) -> list[torch.Tensor]:  # noqa: ANN401  arguments of an operation
    found: list[torch.Tensor] = []
    for value in values:
        if isinstance(value, torch.Tensor):
            found.append(value)
        elif isinstance(value, list | tuple):
            found += _flat(value)
    return found
