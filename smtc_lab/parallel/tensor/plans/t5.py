"""Hugging Face's T5, whose heads each add a bias of the distance."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torch import nn

from smtc_lab.parallel.tensor.plans.plan import TensorPlan, has_layers, is_of_transformers
from smtc_lab.parallel.tensor.split import Split

if TYPE_CHECKING:
    from smtc_lab.parallel.tensor.splitter import Splitter


def _is_attention(module: nn.Module) -> bool:
    if not is_of_transformers(module) or not hasattr(module, "n_heads"):
        return False
    bias: Any = getattr(module, "relative_attention_bias", None)
    layers = [getattr(module, name, None) for name in ("q", "k", "v", "o")]
    if not all(type(one) is nn.Linear for one in layers):
        return False
    known = [*layers, bias] if type(bias) is nn.Embedding else layers
    own = {id(value) for one in known if one is not None for value in one.parameters()}
    return own == {id(value) for value in module.parameters()}


def _split_attention(module: nn.Module, name: str, splitter: Splitter) -> None:
    block: Any = module
    splitter.share(block.n_heads, f"heads in {name}")
    entrance = splitter.entrance()
    for layer in (block.q, block.k, block.v):
        splitter.column(layer, entrance)
    splitter.row(block.o, entrance)
    bias = getattr(block, "relative_attention_bias", None)
    if bias is not None:
        splitter.parameter(bias, "weight", Split(1))
        splitter.number(bias, "embedding_dim")
    splitter.number(block, "n_heads", "inner_dim")


def _is_feed_forward(module: nn.Module) -> bool:
    return is_of_transformers(module) and (
        has_layers(module, "wi", "wo") or has_layers(module, "wi_0", "wi_1", "wo")
    )


def _split_feed_forward(module: nn.Module, _name: str, splitter: Splitter) -> None:
    block: Any = module
    entrance = splitter.entrance()
    for name in ("wi", "wi_0", "wi_1"):
        if hasattr(block, name):
            splitter.column(getattr(block, name), entrance)
    splitter.row(block.wo, entrance)


PLANS = (
    TensorPlan(what="attention of T5", knows=_is_attention, split=_split_attention),
    TensorPlan(what="feed-forward of T5", knows=_is_feed_forward, split=_split_feed_forward),
)
