"""Hugging Face's GPT-2, whose layers are ``Conv1D``: linear ones with a transposed weight."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from smtc_lab.parallel.tensor.plans.plan import TensorPlan, has_layers, is_of_transformers

if TYPE_CHECKING:
    from torch import nn

    from smtc_lab.parallel.tensor.splitter import Splitter

_QKV = 3


def _has_conv1d(module: nn.Module, *names: str) -> bool:
    kind: Any = type(getattr(module, names[0], None))
    return (
        is_of_transformers(module)
        and kind.__name__ == "Conv1D"
        and has_layers(module, *names, kind=kind)
    )


def _is_attention(module: nn.Module) -> bool:
    return _has_conv1d(module, "c_attn", "c_proj") and hasattr(module, "split_size")


def _split_attention(module: nn.Module, name: str, splitter: Splitter) -> None:
    block: Any = module
    splitter.share(block.num_heads, f"heads in {name}")
    entrance = splitter.entrance()
    splitter.column(block.c_attn, entrance, fused=_QKV)
    splitter.row(block.c_proj, entrance)
    splitter.number(block, "num_heads", "split_size")


def _is_feed_forward(module: nn.Module) -> bool:
    return _has_conv1d(module, "c_fc", "c_proj")


def _split_feed_forward(module: nn.Module, _name: str, splitter: Splitter) -> None:
    block: Any = module
    entrance = splitter.entrance()
    splitter.column(block.c_fc, entrance)
    splitter.row(block.c_proj, entrance)


PLANS = (
    TensorPlan(what="attention of GPT-2", knows=_is_attention, split=_split_attention),
    TensorPlan(what="feed-forward of GPT-2", knows=_is_feed_forward, split=_split_feed_forward),
)
