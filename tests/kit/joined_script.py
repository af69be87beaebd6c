"""A training script whose ranks join one group, as under torchrun."""

from __future__ import annotations

import json
from typing import Any

JOINED_SCRIPT = """\
import json, os, time
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

dist.init_process_group("gloo")
rank = dist.get_rank()
model = DistributedDataParallel(torch.nn.Linear(1, 1, bias=False))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for step in range(int(os.environ.get("STEPS", "20"))):
    if step == 5 and rank == 3 and "FAILS" in os.environ:
        raise ValueError("rank 3 has no more")
    optimizer.zero_grad()
    model(torch.full((1, 1), float(rank))).mean().backward()
    optimizer.step()
weight = next(model.parameters()).item()
local = (os.environ["LOCAL_RANK"], os.environ["GROUP_RANK"])
print("SAID", json.dumps([rank, *local, weight]), flush=True)
"""
"""Takes STEPS steps; with FAILS set, rank 3 fails at the fifth."""


def said_by_ranks(log: str) -> list[Any]:
    """Return what each rank said: its rank, local rank, group rank and weight."""
    lines = [line.partition("SAID ")[2] for line in log.splitlines()]
    return sorted(json.loads(line) for line in lines if line)
