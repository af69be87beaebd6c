"""Hugging Face's BERT, and what is built as it is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torch import nn

from smtc_lab.parallel.tensor.plans.plan import TensorPlan, has_layers, is_of_transformers

if TYPE_CHECKING:
    from smtc_lab.parallel.tensor.splitter import Splitter


def _is_attention(module: nn.Module) -> bool:
    attention: Any = getattr(module, "self", None)
    return (
        is_of_transformers(module)
        and isinstance(attention, nn.Module)
        and hasattr(attention, "num_attention_heads")
        and has_layers(attention, "query", "key", "value")
        and _has_dense(module, "output")
    )


def _split_attention(module: nn.Module, name: str, splitter: Splitter) -> None:
    block: Any = module
    attention, entrance = block.self, splitter.entrance()
    splitter.share(attention.num_attention_heads, f"heads in {name}")
    for layer in (attention.query, attention.key, attention.value):
        splitter.column(layer, entrance)
    splitter.row(block.output.dense, entrance)
    splitter.number(attention, "num_attention_heads", "all_head_size")


def _is_feed_forward(module: nn.Module) -> bool:
    return (
        is_of_transformers(module)
        and _has_dense(module, "intermediate")
        and _has_dense(module, "output")
    )


def _split_feed_forward(module: nn.Module, _name: str, splitter: Splitter) -> None:
    block: Any = module
    entrance = splitter.entrance()
    splitter.column(block.intermediate.dense, entrance)
    splitter.row(block.output.dense, entrance)


def _has_dense(module: nn.Module, name: str) -> bool:
    return type(getattr(getattr(module, name, None), "dense", None)) is nn.Linear


PLANS = (
    TensorPlan(what="attention of BERT", knows=_is_attention, split=_split_attention),
    TensorPlan(what="feed-forward of BERT", knows=_is_feed_forward, split=_split_feed_forward),
)
