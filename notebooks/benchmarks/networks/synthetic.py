"""Random samples of a fixed seed, in memory: a dataset that costs a trainer next to nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch.utils.data import Dataset

if TYPE_CHECKING:
    from collections.abc import Callable

_SEED = 20221118
_DIFFERENT_SAMPLES = 128


class Synthetic(Dataset[Any]):
    """Samples drawn once, when the dataset is made; later ones are the first ones again."""

    def __init__(self, draw: Callable[[torch.Generator], Any]) -> None:
        generator = torch.Generator().manual_seed(_SEED)
        self._samples = [draw(generator) for _ in range(_DIFFERENT_SAMPLES)]

    def __len__(self) -> int:
        return 1_000_000

    def __getitem__(self, index: int) -> Any:  # noqa: ANN401  whatever draw returns
        return self._samples[index % len(self._samples)]


def images(*, channels: int, size: int, classes: int) -> Synthetic:
    """Return images, float32 of shape (channels, size, size), each with its class, int64.

    The class shows in the brightness, so that a model has something to learn.
    """

    def draw(generator: torch.Generator) -> tuple[torch.Tensor, torch.Tensor]:
        label = torch.randint(classes, (), generator=generator)
        image = torch.randn(channels, size, size, generator=generator)
        return image + 2 * label / classes - 1, label

    return Synthetic(draw)


def sentences(*, vocabulary: int, length: int, classes: int) -> Synthetic:
    """Return token numbers, int64 of shape (length,), with mask and class, int64."""

    def draw(generator: torch.Generator) -> dict[str, torch.Tensor]:
        label = torch.randint(classes, (), generator=generator)
        tokens = torch.randint(3, vocabulary // classes, (length,), generator=generator)
        return {
            "input_ids": tokens + label * (vocabulary // classes) // 2,
            "attention_mask": torch.ones(length, dtype=torch.int64),
            "labels": label,
        }

    return Synthetic(draw)


def texts(*, vocabulary: int, length: int) -> Synthetic:
    """Return token numbers, int64 of shape (length,), that are to be predicted themselves."""

    def draw(generator: torch.Generator) -> dict[str, torch.Tensor]:
        tokens = _tokens(vocabulary, length, generator)
        return {
            "input_ids": tokens,
            "attention_mask": torch.ones(length, dtype=torch.int64),
            "labels": tokens,
        }

    return Synthetic(draw)


def masked_texts(*, vocabulary: int, length: int, mask_token: int) -> Synthetic:
    """Return token numbers, 15 % of them masked, and labels: -100 where nothing is asked."""

    def draw(generator: torch.Generator) -> dict[str, torch.Tensor]:
        tokens = _tokens(vocabulary, length, generator)
        masked = torch.rand(length, generator=generator) < 0.15
        masked[0] = True  # a sample without any mask has no loss
        return {
            "input_ids": tokens.masked_fill(masked, mask_token),
            "attention_mask": torch.ones(length, dtype=torch.int64),
            "labels": tokens.masked_fill(~masked, -100),
        }

    return Synthetic(draw)


def translations(*, vocabulary: int, length: int, target_length: int) -> Synthetic:
    """Return token numbers of a text, and those of its begin backwards as the target."""

    def draw(generator: torch.Generator) -> dict[str, torch.Tensor]:
        tokens = _tokens(vocabulary, length, generator)
        return {
            "input_ids": tokens,
            "attention_mask": torch.ones(length, dtype=torch.int64),
            "labels": tokens[:target_length].flip(0),
        }

    return Synthetic(draw)


def _tokens(vocabulary: int, length: int, generator: torch.Generator) -> torch.Tensor:
    """Return random tokens, small numbers more often; the first ten are kept for marks."""
    uniform = torch.rand(length, generator=generator)
    return (10 + (vocabulary - 10) * uniform**3).to(torch.int64)
