"""Networks that are cut: three plain ones, and three of transformers, small enough to time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import nn
from torch.nn import functional

if TYPE_CHECKING:
    from collections.abc import Callable

_WIDTHS = (128, 896, 256, 640, 384, 1024, 192, 768, 320, 512, 1088, 160)
"""Twelve random widths, drawn once."""

Made = tuple[nn.Module, Any, Any, "Callable[[Any, Any], torch.Tensor] | None"]
"""Model, inputs, targets, and loss; None: the output has it."""


class _Language(nn.Module):
    def __init__(self, layers: int, words: int, width: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(words, width)
        self.layers = nn.Sequential(
            *(
                nn.TransformerEncoderLayer(width, 4, 4 * width, 0.0, batch_first=True)
                for _ in range(layers)
            )
        )
        self.head = nn.Linear(width, words)

    def forward(self, words: torch.Tensor) -> torch.Tensor:
        out: torch.Tensor = self.head(self.layers(self.embedding(words)))
        return out


def _cross_entropy(output: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    return functional.cross_entropy(output.flatten(0, 1), targets.flatten())


def language(words: int = 16_000, samples: int = 8) -> Made:
    """Return a language model of 8 layers, whose head is its largest part."""
    drawn = torch.randint(words, (samples, 32))
    return _Language(8, words, 128), drawn, drawn.roll(1, 1), _cross_entropy


def convolutions() -> Made:
    """Return 9 convolutional blocks; pictures get smaller and channels more."""
    blocks, channels = list[nn.Module](), 3
    for number in range(9):
        out = 16 * 2 ** (number // 3)
        stride = 2 if number in {3, 6} else 1
        blocks.append(
            nn.Sequential(
                nn.Conv2d(channels, out, 3, stride, 1), nn.GroupNorm(4, out), nn.ReLU()
            )
        )
        channels = out
    head = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, 10))
    images, targets = torch.randn(8, 3, 32, 32), torch.randint(10, (8,))
    return nn.Sequential(*blocks, head), images, targets, functional.cross_entropy


def perceptrons() -> Made:
    """Return 12 perceptrons of random widths, one after the other."""
    made = [
        nn.Sequential(nn.Linear(256, width), nn.GELU(), nn.Linear(width, 256))
        for width in _WIDTHS
    ]
    values = torch.randn(64, 256)
    return nn.Sequential(*made), values, values.sin(), functional.mse_loss


def of_transformers(name: str) -> Made:
    """Return BERT, GPT-2 or T5 with 6 layers of width 128; without dropout.

    Raises:
        ImportError: The library is not installed.
    """
    import transformers  # noqa: PLC0415  a benchmark's own

    words = 4_000
    none: dict[str, Any] = {"bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0}
    model: nn.Module
    if name == "BERT":
        model = transformers.BertForMaskedLM(
            transformers.BertConfig(
                vocab_size=words,
                hidden_size=128,
                num_hidden_layers=6,
                num_attention_heads=4,
                intermediate_size=512,
                hidden_dropout_prob=0.0,
                attention_probs_dropout_prob=0.0,
            )
        )
    elif name == "GPT-2":
        still: dict[str, Any] = {"embd_pdrop": 0.0, "resid_pdrop": 0.0, "attn_pdrop": 0.0}
        model = transformers.GPT2LMHeadModel(
            transformers.GPT2Config(
                vocab_size=words, n_embd=128, n_layer=6, n_head=4, **none, **still
            )
        )
    else:
        sizes: dict[str, Any] = {
            "vocab_size": words,
            "d_model": 128,
            "d_kv": 32,
            "num_layers": 6,
            "num_heads": 4,
            "d_ff": 512,
            "decoder_start_token_id": 0,
            "dropout_rate": 0.0,
        }
        model = transformers.T5ForConditionalGeneration(transformers.T5Config(**sizes))
    drawn = torch.randint(3, words, (8, 32))
    return model.train(), {"input_ids": drawn, "labels": drawn}, None, None


NETWORKS: dict[str, Callable[[], Made]] = {
    "9 convolutional blocks": convolutions,
    "language model of 8 layers": language,
    "12 perceptrons": perceptrons,
    "BERT": lambda: of_transformers("BERT"),
    "GPT-2": lambda: of_transformers("GPT-2"),
    "T5": lambda: of_transformers("T5"),
}
