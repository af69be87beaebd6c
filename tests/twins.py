"""How far from each other two runs may end whose arithmetic is right: as far as twins do.

Another CPU, library or compiler sums in another order and rounds the last bit elsewhere. What
becomes of that depends on the computation: a loss that nears zero loses its digits, and AdamW
makes a whole step of a gradient near zero. So no constant fits everywhere. A twin is the same
eager run here, with the last bits of each weight tossed before each step.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Toss = Callable[[torch.nn.Module], None]
    Result = dict[str, torch.Tensor]

NUM_TWINS = 12
TOSSED_ULPS = 4
"""What one library's vectorized ``tanh`` or ``exp`` may differ by from another's."""
SLACK = 8
"""How many times farther than the farthest twin a result may lie: twins are a sample only."""
ULP = float(torch.finfo(torch.float32).eps)


def twins(train: Callable[[Toss], Result], *, ulp: float = ULP) -> list[Result]:
    """Return what twins of a run end with.

    Args:
        train: Trains eagerly, calls what it is given with the model before each step, and
            returns what is compared, by name.
        ulp: What one unit in the last place is to one, at the run's precision.
    """
    generators = [torch.Generator().manual_seed(seed) for seed in range(NUM_TWINS)]
    return [train(partial(_toss, generator=it, ulp=ulp)) for it in generators]


def no_toss(model: torch.nn.Module) -> None:
    """Leave the model as it is: for the run that the twins belong to."""


def distance(result: Result, expected: Result, of_twins: Sequence[Result]) -> float:
    """Return how far a result lies from the expected one, in distances of its farthest twin."""
    assert result.keys() == expected.keys()
    farthest = 0.0
    for name, value in expected.items():
        floor = TOSSED_ULPS * ULP * float(value.double().abs().max())  # where all twins agree
        allowed = max(floor, *(_difference(twin[name], value) for twin in of_twins))
        found = _difference(result[name], value)
        farthest = max(farthest, found / allowed if found else 0.0)
    return farthest


def _difference(one: torch.Tensor, other: torch.Tensor) -> float:
    return float((one.detach().cpu().double() - other.detach().double()).abs().max())


def _toss(model: torch.nn.Module, *, generator: torch.Generator, ulp: float) -> None:
    with torch.no_grad():
        for weight in model.parameters():
            if weight.requires_grad:
                ulps = torch.randint(
                    -TOSSED_ULPS, TOSSED_ULPS + 1, weight.shape, generator=generator
                )
                weight.mul_(1 + ulp * ulps)
