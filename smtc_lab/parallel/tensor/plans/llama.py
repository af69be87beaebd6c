"""Hugging Face's Llama, and what is built as it is: Mistral, Qwen 2, Gemma."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from smtc_lab.parallel.tensor.plans.plan import TensorPlan, has_layers, is_of_transformers

if TYPE_CHECKING:
    from torch import nn

    from smtc_lab.parallel.tensor.splitter import Splitter


def _is_attention(module: nn.Module) -> bool:
    return (
        is_of_transformers(module)
        and hasattr(module, "head_dim")
        and has_layers(module, "q_proj", "k_proj", "v_proj", "o_proj")
    )


def _split_attention(module: nn.Module, name: str, splitter: Splitter) -> None:
    block: Any = module
    for layer, what in ((block.q_proj, "heads"), (block.k_proj, "heads of keys")):
        splitter.share(layer.out_features // block.head_dim, f"{what} in {name}")
    entrance = splitter.entrance()
    for layer in (block.q_proj, block.k_proj, block.v_proj):
        splitter.column(layer, entrance)
    splitter.row(block.o_proj, entrance)
    splitter.number(block, "num_heads", "num_key_value_heads")


def _is_feed_forward(module: nn.Module) -> bool:
    return is_of_transformers(module) and has_layers(
        module, "gate_proj", "up_proj", "down_proj"
    )


def _split_feed_forward(module: nn.Module, _name: str, splitter: Splitter) -> None:
    block: Any = module
    entrance = splitter.entrance()
    splitter.column(block.gate_proj, entrance)
    splitter.column(block.up_proj, entrance)
    splitter.row(block.down_proj, entrance)


PLANS = (
    TensorPlan(what="attention of Llama", knows=_is_attention, split=_split_attention),
    TensorPlan(what="feed-forward of Llama", knows=_is_feed_forward, split=_split_feed_forward),
)
