"""Tensors over memory that somebody else owns, without a copy."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from notebooks.benchmarks.dataservice.payloads import Batch, Payload


def batch_view(images: Any, labels: Any, payload: Payload) -> Batch:  # noqa: ANN401  any buffer
    """Return the batch that lies in two buffers, which it keeps alive."""
    with warnings.catch_warnings():
        # Libraries hand out what they received as read-only; nobody writes to it here.
        warnings.filterwarnings("ignore", message="The given buffer is not writable")
        return (
            torch.frombuffer(images, dtype=payload.torch_dtype).view(payload.shape),
            torch.frombuffer(labels, dtype=torch.int64),
        )
