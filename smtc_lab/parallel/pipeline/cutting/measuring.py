"""What each piece of a model takes on this device, measured before the model is cut."""

from __future__ import annotations

import time
from collections import defaultdict
from contextlib import ExitStack
from statistics import median
from typing import TYPE_CHECKING, Any

import torch

from smtc_lab.parallel.torch_names import needed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from smtc_lab.parallel.pipeline.cutting.pieces import Pieces

tree_leaves = needed("torch.utils._pytree:tree_leaves")

REPEATS = 3
"""Microbatches that are timed, after one that is not."""


def measured_s(
    model: torch.nn.Module,
    pieces: Pieces,
    inputs: tuple[tuple[Any, ...], dict[str, Any]],
    loss_of: Callable[[Any], torch.Tensor],
) -> list[float]:
    """Return what each piece takes for forward and backward of a microbatch, in seconds.

    Medians of a few microbatches through the whole model, as it is and where it is. No
    parameter, gradient, buffer or state of random numbers changes.

    Args:
        model: The whole model, with values.
        pieces: Its sequence.
        inputs: Positional and keyword arguments of one microbatch.
        loss_of: Returns the loss of an output.
    """
    args, kwargs = inputs
    kept = [one.detach().clone() for one in model.buffers()]
    trained = [one for one in model.parameters() if one.requires_grad]
    taken: list[list[float]] = []
    with torch.random.fork_rng(), torch.enable_grad():
        for _ in range(REPEATS + 1):
            clock = _Clock(pieces)
            with clock:
                loss = loss_of(model(*args, **kwargs))
            clock.backward(loss, trained)
            taken.append(clock.seconds)
    with torch.no_grad():
        for buffer, value in zip(model.buffers(), kept, strict=True):
            buffer.copy_(value)
    return [median(each) for each in zip(*taken[1:], strict=True)]


class _Clock:
    """Times one forward, while it is entered, and one backward, piece by piece."""

    def __init__(self, pieces: Pieces) -> None:
        self.seconds = [0.0] * len(pieces)
        self._places: dict[torch.nn.Module, list[int]] = defaultdict(list)
        for place, call in enumerate(pieces.sequence):
            self._places[call.module].append(place)
        self._calls: dict[torch.nn.Module, int] = defaultdict(int)
        self._began_s: list[float] = []
        self._reached: list[tuple[float, int]] = []
        self._stack = ExitStack()

    def __enter__(self) -> None:
        for module in self._places:
            for handle in (
                module.register_forward_pre_hook(self._before),
                module.register_forward_hook(self._after),
            ):
                self._stack.callback(handle.remove)

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def backward(self, loss: torch.Tensor, trained: Sequence[torch.Tensor]) -> None:
        """Run a backward; a piece takes from its own gradient to that of the next to come."""
        torch.autograd.grad(loss, trained, allow_unused=True)
        ends = [*(time_s for time_s, _ in self._reached[1:]), time.perf_counter()]
        for (began_s, place), end_s in zip(self._reached, ends, strict=True):
            self.seconds[place] += end_s - began_s

    def _before(self, *_: object) -> None:
        self._began_s.append(time.perf_counter())

    def _after(self, module: torch.nn.Module, _args: object, output: object) -> None:
        places = self._places[module]
        place = places[min(self._calls[module], len(places) - 1)]
        self._calls[module] += 1
        self.seconds[place] += time.perf_counter() - self._began_s.pop()
        for leaf in tree_leaves(output):
            if isinstance(leaf, torch.Tensor) and leaf.requires_grad:
                leaf.register_hook(  # type: ignore[no-untyped-call]
                    lambda _: self._reached.append((time.perf_counter(), place))
                )
                break
