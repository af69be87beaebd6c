"""A small model with layers that repeat, and its batches; the same in every process."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import nn

if TYPE_CHECKING:
    from collections.abc import Iterator


class Layer(nn.Module):
    """A residual layer."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.up = nn.Linear(width, 2 * width)
        self.down = nn.Linear(2 * width, width)

    def forward(self, values: torch.Tensor) -> torch.Tensor:
        out: torch.Tensor = values + self.down(torch.nn.functional.gelu(self.up(values)))
        return out


class SmallModel(nn.Module):
    """Some residual layers between two linear ones."""

    def __init__(self, width: int = 32, layers: int = 4) -> None:
        super().__init__()
        self.first = nn.Linear(8, width)
        self.layers = nn.ModuleList([Layer(width) for _ in range(layers)])
        self.last = nn.Linear(width, 4)

    def forward(self, values: torch.Tensor) -> torch.Tensor:
        values = self.first(values)
        for layer in self.layers:
            values = layer(values)
        out: torch.Tensor = self.last(values)
        return out


def batches(
    steps: int, *, rank: int, world_size: int
) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    """Yield a rank's part of each global batch of 16 samples."""
    generator = torch.Generator().manual_seed(1)
    each = 16 // world_size
    mine = slice(rank * each, (rank + 1) * each)
    for _ in range(steps):
        values = torch.randn(16, 8, generator=generator)
        yield values[mine], values[mine, :4].sin()


def loss_of(
    model: nn.Module, batch: tuple[torch.Tensor, torch.Tensor] | list[torch.Tensor]
) -> torch.Tensor:
    """Return the mean squared error of a batch."""
    loss: torch.Tensor = (model(batch[0]) - batch[1]).square().mean()
    return loss
