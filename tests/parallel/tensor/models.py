"""Models of blocks that can be divided, small, and the same in every process."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import nn
from torch.nn import functional

if TYPE_CHECKING:
    from collections.abc import Callable

WORDS = 60
WIDTH = 32


class Encoder(nn.Module):
    """Encoder layers of torch with a padding mask; the head is tied to the embedding."""

    def __init__(self, *, batch_first: bool = True) -> None:
        super().__init__()
        self.embedding = nn.Embedding(WORDS, WIDTH)
        layer = nn.TransformerEncoderLayer(WIDTH, 4, 48, 0.0, batch_first=batch_first)
        self.layers = nn.TransformerEncoder(layer, 2, enable_nested_tensor=batch_first)
        self.head = nn.Linear(WIDTH, WORDS, bias=False)
        self.head.weight = self.embedding.weight
        self.batch_first = batch_first

    def forward(self, words: torch.Tensor) -> torch.Tensor:
        values = self.embedding(words)
        padding = words == 0
        if not self.batch_first:
            values = values.transpose(0, 1)
        values = self.layers(values, src_key_padding_mask=padding)
        out: torch.Tensor = self.head(values if self.batch_first else values.transpose(0, 1))
        return out


class Decoder(nn.Module):
    """Decoder layers of torch, with a causal mask, and an attention that tells its weights."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(WORDS, WIDTH)
        self.layers = nn.ModuleList(
            nn.TransformerDecoderLayer(WIDTH, 4, 48, 0.0, batch_first=True, norm_first=True)
            for _ in range(2)
        )
        self.pooled = nn.MultiheadAttention(WIDTH, 2, bias=False)
        self.head = nn.Linear(WIDTH, WORDS)

    def forward(self, words: torch.Tensor) -> torch.Tensor:
        memory = self.embedding(words)
        mask = nn.Transformer.generate_square_subsequent_mask(words.shape[1])
        values = memory.flip(1)
        for layer in self.layers:
            values = layer(values, memory, tgt_mask=mask, tgt_is_causal=True)
        each = mask.new_zeros(2, *mask.shape).masked_fill(mask.isinf(), -1.0)
        one, weights = self.pooled(values[0], values[0], values[0], attn_mask=each)
        out: torch.Tensor = self.head(values + one + weights.mean())
        return out


def sequence() -> nn.Module:
    """Return plain layers, some of which ranks can share."""
    return nn.Sequential(
        nn.Embedding(WORDS, WIDTH),
        nn.Sequential(nn.Linear(WIDTH, 64), nn.GELU(), nn.Dropout(0.0), nn.Linear(64, WIDTH)),
        nn.LayerNorm(WIDTH),
        nn.Linear(WIDTH, 48, bias=False),
        nn.Tanh(),
        nn.Linear(48, WIDTH, bias=False),
        nn.Linear(WIDTH, 7),  # cannot be shared evenly, and stays whole
        nn.ReLU(),
        nn.Linear(7, WORDS),
    )


def of_transformers(name: str) -> nn.Module:
    import transformers

    sizes: dict[str, Any] = {
        "vocab_size": WORDS,
        "hidden_size": WIDTH,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "intermediate_size": 48,
    }
    none = {"bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0}
    if name == "BERT":
        still = {"hidden_dropout_prob": 0, "attention_probs_dropout_prob": 0}
        return transformers.BertForMaskedLM(transformers.BertConfig(**sizes, **still))
    if name == "GPT-2":
        gpt = transformers.GPT2Config(
            vocab_size=WORDS,
            n_embd=WIDTH,
            n_layer=2,
            n_head=4,
            **none,
            embd_pdrop=0,
            resid_pdrop=0,
            attn_pdrop=0,
        )
        return transformers.GPT2LMHeadModel(gpt)
    if name.startswith("T5"):
        t5 = transformers.T5Config(
            vocab_size=WORDS,
            d_model=WIDTH,
            d_kv=8,
            num_layers=2,
            num_heads=4,
            d_ff=48,
            decoder_start_token_id=0,
            dropout_rate=0,
            feed_forward_proj="gated-gelu" if "gated" in name else "relu",
        )
        return transformers.T5ForConditionalGeneration(t5)
    kinds = {"Llama": "Llama", "Qwen 2": "Qwen2", "Mixtral": "Mixtral"}
    config = getattr(transformers, f"{kinds[name]}Config")
    model = getattr(transformers, f"{kinds[name]}ForCausalLM")
    made: nn.Module = model(config(**sizes, **none, num_key_value_heads=2))
    return made


def cross_entropy(output: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    return functional.cross_entropy(output.flatten(0, 1), targets.flatten())


def words(samples: int = 8) -> tuple[torch.Tensor, torch.Tensor]:
    drawn = torch.randint(1, WORDS, (samples, 6), generator=torch.Generator().manual_seed(3))
    targets = drawn.roll(1, 1)
    drawn[0, 4:] = 0
    return drawn, targets


def sentences() -> tuple[dict[str, torch.Tensor], None]:
    drawn, targets = words()
    mask = (drawn != 0).long()
    return {"input_ids": drawn, "labels": targets, "attention_mask": mask}, None


Made = tuple["Callable[[], nn.Module]", "Callable[[], tuple[Any, Any]]", Any]

MODELS: dict[str, Made] = {
    "encoder": (Encoder, words, cross_entropy),
    "encoder, length first": (lambda: Encoder(batch_first=False), words, cross_entropy),
    "decoder": (Decoder, words, cross_entropy),
    "sequence": (sequence, words, cross_entropy),
}
"""Model, batch and loss by name."""

OF_TRANSFORMERS: dict[str, Made] = {
    name: (lambda name=name: of_transformers(name).train(), sentences, None)  # type: ignore[misc]
    for name in ("BERT", "GPT-2", "T5", "T5 gated", "Llama", "Qwen 2", "Mixtral")
}
