"""Models that a pipeline refuses; they are among the others where this is imported."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from tests.parallel.pipeline.models import MODELS, squared


class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, values: torch.Tensor) -> torch.Tensor:  # noqa: ARG004  torch's signature
        return 2 * values

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> torch.Tensor:  # noqa: ARG004  torch's
        return 2 * gradient


class Doubling(nn.Linear):
    def forward(self, values: torch.Tensor) -> torch.Tensor:
        doubled: torch.Tensor = Double.apply(super().forward(values))
        return doubled


class Result:
    def __init__(self, values: torch.Tensor) -> None:
        self.values = values


class Object(nn.Linear):
    def forward(self, values: torch.Tensor) -> Result:  # type: ignore[override]
        return Result(super().forward(values))


class OfObject(nn.Linear):
    def forward(self, result: Result) -> torch.Tensor:  # type: ignore[override]
        return super().forward(result.values)


def numbers() -> tuple[Any, Any]:
    return torch.ones(8, 4), torch.zeros(8, 4)


def _on_meta() -> nn.Module:
    with torch.device("meta"):
        return nn.Sequential(*(nn.Linear(4, 4) for _ in range(4)))


MODELS |= {
    "no loss": (lambda: nn.Sequential(*(nn.Linear(4, 4) for _ in range(4))), numbers, None),
    "function": (lambda: nn.Sequential(*(Doubling(4, 4) for _ in range(4))), numbers, squared),
    "hidden": (lambda: nn.Sequential(Object(4, 4), OfObject(4, 4)), numbers, squared),
    "meta": (_on_meta, numbers, squared),
}
