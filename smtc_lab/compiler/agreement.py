"""Lets the trainers of a job take the same decisions from their own measurements."""

from __future__ import annotations

import math

import torch
from torch import distributed

FAILED_S = math.inf
"""What a trainer says whose step failed."""


def slowest_s(seconds: float, device: torch.device) -> float:
    """Return the longest of what the trainers measured; alone: what this one did.

    Every trainer must call it after the same step.

    Args:
        seconds: What this trainer measured; ``FAILED_S``: its step failed.
        device: Where the process group exchanges tensors: the device of the model.
    """
    if not (distributed.is_available() and distributed.is_initialized()):
        return seconds
    if distributed.get_world_size() == 1:
        return seconds
    value = torch.tensor([seconds], dtype=torch.float64, device=device)
    distributed.all_reduce(value, op=distributed.ReduceOp.MAX)
    return float(value)
