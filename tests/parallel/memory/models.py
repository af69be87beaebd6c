"""Models whose memory is predicted, and measured: each dominated by something else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import nn

if TYPE_CHECKING:
    from collections.abc import Callable


class Words(nn.Module):
    """A small language model."""

    def __init__(self, words: int = 8_000, width: int = 256, layers: int = 4) -> None:
        super().__init__()
        self.embedding = nn.Embedding(words, width)
        self.layers = nn.ModuleList(
            nn.TransformerEncoderLayer(width, 4, 4 * width, dropout=0.0, batch_first=True)
            for _ in range(layers)
        )
        self.head = nn.Linear(width, words)

    def forward(self, words: torch.Tensor) -> torch.Tensor:
        values = self.embedding(words)
        for layer in self.layers:
            values = layer(values)
        out: torch.Tensor = self.head(values)
        return out


def wide() -> nn.Module:
    """Return a model whose parameters are most of what it needs."""
    return nn.Sequential(
        nn.Linear(1024, 4096),
        nn.ReLU(),
        nn.Linear(4096, 4096),
        nn.ReLU(),
        nn.Linear(4096, 4096),
        nn.ReLU(),
        nn.Linear(4096, 10),
    )


def images() -> nn.Module:
    """Return a model whose activations are most of what it needs."""
    return nn.Sequential(
        nn.Conv2d(3, 32, 3, padding=1),
        nn.GroupNorm(4, 32),
        nn.ReLU(),
        nn.Conv2d(32, 64, 3, padding=1),
        nn.GroupNorm(4, 64),
        nn.ReLU(),
        nn.Conv2d(64, 64, 3, padding=1),
        nn.GroupNorm(4, 64),
        nn.ReLU(),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(64, 10),
    )


def of_classes(samples: int, *shape: int) -> tuple[torch.Tensor, torch.Tensor]:
    return torch.randn(samples, *shape), torch.randint(10, (samples,))


def of_words(samples: int, length: int) -> tuple[torch.Tensor, torch.Tensor]:
    words = torch.randint(8_000, (samples, length + 1))
    return words[:, :-1].contiguous(), words[:, 1:].contiguous()


def next_word(output: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    return nn.functional.cross_entropy(output.flatten(0, 1), targets.flatten())


FREED_GOES_BACK = {"MALLOC_MMAP_THRESHOLD_": "65536", "MALLOC_TRIM_THRESHOLD_": "65536"}
"""Variables with which freed blocks go back to the system at once."""

MODELS: dict[str, tuple[Callable[[], nn.Module], Callable[[], Any], Callable[..., Any]]] = {
    "wide": (wide, lambda: of_classes(64, 1024), nn.functional.cross_entropy),
    "words": (Words, lambda: of_words(8, 128), next_word),
    "images": (images, lambda: of_classes(32, 3, 64, 64), nn.functional.cross_entropy),
}
"""Model, batch and loss, by name."""
