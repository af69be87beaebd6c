"""Models that are hard to cut, small, and the same in every process."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import nn
from torch.nn import functional

if TYPE_CHECKING:
    from collections.abc import Callable

WORDS = 60
WIDTH = 32
ROUTED = "Mixtral with the loss of its routers"
"""That loss is no mean over samples, so microbatches change it."""


class Language(nn.Module):
    """A language model; its head is tied to its embedding."""

    def __init__(self, layers: int = 8) -> None:
        super().__init__()
        self.embedding = nn.Embedding(WORDS, WIDTH)
        self.layers = nn.ModuleList(
            nn.TransformerEncoderLayer(WIDTH, 4, 2 * WIDTH, 0.0, batch_first=True)
            for _ in range(layers)
        )
        self.head = nn.Linear(WIDTH, WORDS, bias=False)
        self.head.weight = self.embedding.weight

    def forward(self, words: torch.Tensor) -> torch.Tensor:
        values = self.embedding(words)
        for layer in self.layers:
            values = layer(values)
        out: torch.Tensor = self.head(values)
        return out


class UNet(nn.Module):
    """Skip connections, in-place activations, and an in-place sum in its own code."""

    def __init__(self) -> None:
        super().__init__()
        self.down = nn.Sequential(nn.Conv2d(3, 4, 3, padding=1), nn.ReLU(inplace=True))
        self.deep = nn.Sequential(
            nn.Conv2d(4, 8, 3, padding=1, stride=2), nn.LeakyReLU(0.3, inplace=True)
        )
        self.middle = nn.Conv2d(8, 8, 3, padding=1)
        self.activation = nn.GELU()
        self.up = nn.ConvTranspose2d(8, 4, 2, stride=2)
        self.last = nn.Conv2d(8, 3, 1)

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        first = self.down(image)
        second = self.deep(first)
        third = self.activation(self.activation(self.middle(second)) + second)
        fourth = self.up(third)
        fourth += 1
        out: torch.Tensor = self.last(torch.cat([first, fourth], 1))
        return out


class Reused(nn.Module):
    """A layer that is used again and again, parameters of no layer, a tie without a head."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(WORDS, WIDTH)
        self.again = nn.Linear(WIDTH, WIDTH)
        self.own = nn.ModuleList(nn.Linear(WIDTH, WIDTH) for _ in range(6))
        self.scale = nn.Parameter(torch.ones(WIDTH))

    def forward(self, words: torch.Tensor) -> torch.Tensor:
        values = self.embedding(words)
        for own in self.own:
            values = torch.tanh(self.again(values) + own(values) * self.scale)
        return values @ self.embedding.weight.t()


class Frozen(Language):
    """Trains what comes after some frozen layers."""

    def __init__(self) -> None:
        super().__init__(4)
        self.head = nn.Linear(WIDTH, WORDS)
        for one in [*self.embedding.parameters(), *self.layers[:2].parameters()]:
            one.requires_grad_(requires_grad=False)


def cross_entropy(output: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    return functional.cross_entropy(output.flatten(0, 1), targets.flatten())


def squared(output: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    return (output - targets).square().mean()


def words(samples: int = 8) -> tuple[Any, Any]:
    drawn = torch.randint(1, WORDS, (samples, 6), generator=torch.Generator().manual_seed(3))
    return drawn, drawn.roll(1, 1)


def images() -> tuple[Any, Any]:
    drawn = torch.randn(8, 3, 8, 8, generator=torch.Generator().manual_seed(3))
    return drawn, drawn.sin()


def sentences() -> tuple[Any, Any]:
    drawn, _ = words()
    mask = torch.ones_like(drawn)
    mask[0, 4:] = 0
    return {"input_ids": drawn, "labels": drawn, "attention_mask": mask}, None


def _of_transformers(name: str) -> nn.Module:
    import transformers

    sizes = {
        "vocab_size": WORDS,
        "hidden_size": WIDTH,
        "num_hidden_layers": 4,
        "num_attention_heads": 4,
        "intermediate_size": 2 * WIDTH,
    }
    none = {"bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0}
    if name == "BERT":
        still = {"hidden_dropout_prob": 0, "attention_probs_dropout_prob": 0}
        bert = transformers.BertConfig(**sizes, **still)
        return transformers.BertForMaskedLM(bert)
    if name == "GPT-2":
        gpt = transformers.GPT2Config(
            vocab_size=WORDS,
            n_embd=WIDTH,
            n_layer=4,
            n_head=4,
            **none,
            embd_pdrop=0,
            resid_pdrop=0,
            attn_pdrop=0,
        )
        return transformers.GPT2LMHeadModel(gpt)
    if name == "T5":
        t5 = transformers.T5Config(
            vocab_size=WORDS,
            d_model=WIDTH,
            d_kv=8,
            num_layers=3,
            num_heads=4,
            d_ff=64,
            decoder_start_token_id=0,
            dropout_rate=0,
        )
        return transformers.T5ForConditionalGeneration(t5)
    if name == "Llama":
        return transformers.LlamaForCausalLM(transformers.LlamaConfig(**sizes, **none))
    mixtral = transformers.MixtralConfig(
        **sizes,
        **none,
        num_key_value_heads=2,
        num_local_experts=4,
        output_router_logits=name == ROUTED,
    )
    return transformers.MixtralForCausalLM(mixtral)


Made = tuple["Callable[[], nn.Module]", "Callable[[], tuple[Any, Any]]", Any]

MODELS: dict[str, Made] = {
    "language": (Language, words, cross_entropy),
    "U-net": (UNet, images, squared),
    "reused": (Reused, words, cross_entropy),
    "frozen": (Frozen, words, cross_entropy),
}
"""Model, batch and loss by name."""

OF_TRANSFORMERS: dict[str, Made] = {
    name: (lambda name=name: _of_transformers(name).train(), sentences, None)  # type: ignore[misc]
    for name in ("BERT", "GPT-2", "T5", "Llama", "Mixtral", ROUTED)
}
