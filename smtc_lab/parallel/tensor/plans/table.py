"""All blocks that are known."""

from __future__ import annotations

from smtc_lab.parallel.tensor.plans import bert, gpt2, llama, t5, torch_attention, torch_layers

PLANS = (
    *torch_attention.PLANS,
    *torch_layers.PLANS,
    *bert.PLANS,
    *gpt2.PLANS,
    *t5.PLANS,
    *llama.PLANS,
)
"""Each module is divided by the first that knows it."""
