"""Sees in a trainer when in a step which gradients are ready."""

from __future__ import annotations

import functools
import json
import os
import statistics
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from smtc_lab.instance.description import GRADIENTS_FILE
from smtc_lab.instance.resource_config import BASE_FOLDER_VARIABLE

if TYPE_CHECKING:
    from collections.abc import Sequence

_STEPS = 8
"""Steps that are looked at, behind the first one that is."""


class GradientTimes:
    """Times the gradients of a few steps, writes down their medians, and looks away.

    Only of parameters on the CPU: a GPU computes them later than its host says. Where a step
    has several backward passes the last one counts, as it does with ``no_sync``.
    """

    def __init__(self) -> None:
        self._parameters: list[torch.Tensor] = []
        self._handles: list[Any] = []
        self._plain = self._watched = torch.autograd.backward
        self._begin_s = self._backward_s = 0.0
        self._ready_s: dict[int, float] = {}
        self._steps: list[tuple[float, dict[int, float]]] = []

    def stepped(self, parameters: Sequence[torch.Tensor]) -> None:
        """Say that the optimizer made a step with these parameters."""
        now_s = time.perf_counter()
        if not self._parameters:
            self._watch(parameters)
        elif self._handles and self._ready_s:
            self._add(now_s)
        self._begin_s = time.perf_counter()
        self._ready_s = {}

    def _watch(self, parameters: Sequence[torch.Tensor]) -> None:
        known = [one for one in parameters if one.requires_grad and one.is_leaf]
        self._parameters = known
        if not known or any(one.device.type != "cpu" for one in known):
            return
        self._handles = [
            one.register_post_accumulate_grad_hook(  # type: ignore[no-untyped-call]  # as torch
                functools.partial(self._ready, place)
            )
            for place, one in enumerate(known)
        ]
        plain = self._plain

        @functools.wraps(plain)
        def backward(*args: Any, **kwargs: Any) -> None:  # noqa: ANN401  torch's own arguments
            self._backward_s = time.perf_counter()
            plain(*args, **kwargs)

        torch.autograd.backward = self._watched = backward

    def _ready(self, place: int, _: torch.Tensor) -> None:
        self._ready_s[place] = time.perf_counter()

    def _add(self, end_s: float) -> None:
        step_s = end_s - self._begin_s
        fractions = {
            place: (ready_s - self._begin_s) / step_s
            for place, ready_s in self._ready_s.items()
        }
        self._steps.append(((self._backward_s - self._begin_s) / step_s, fractions))
        if len(self._steps) > _STEPS:
            self._end()

    def _end(self) -> None:
        for handle in self._handles:
            handle.remove()
        self._handles = []
        if torch.autograd.backward is self._watched:  # else somebody wraps it in turn
            torch.autograd.backward = self._plain
        base = os.environ.get(BASE_FOLDER_VARIABLE)
        steps = self._steps[1:]
        # what has no gradient in each of them is not what every step exchanges
        places = set.intersection(*(set(fractions) for _, fractions in steps))
        if base is None or not places:
            return
        ready = sorted(
            (statistics.median(fractions[place] for _, fractions in steps), place)
            for place in places
        )
        begin = min(ready[0][0], statistics.median(begin for begin, _ in steps))
        told = {
            "nbytes": [float(self._parameters[place].nbytes) for _, place in ready],
            "ready_fraction": [_part(fraction) for fraction, _ in ready],
            "begin_fraction": _part(begin),
        }
        file = Path(base, GRADIENTS_FILE)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(told), encoding="utf-8")


def _part(fraction: float) -> float:
    return round(min(max(fraction, 0.0), 1.0), 6)
