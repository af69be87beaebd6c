"""A script of known cost: the CPU time and the bytes of each sample are known."""

from __future__ import annotations

import argparse
import os
import time

import torch
from torch import distributed
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, Dataset

_ENDLESS = 1_000_000
_FEATURES = 8


class KnownCost(Dataset[torch.Tensor]):
    """Samples that each take so much CPU time of the thread that makes them.

    Args:
        cpu_ms: CPU time of one sample on this machine, in milliseconds.
        sample_bytes: Bytes of one sample.
    """

    def __init__(self, *, cpu_ms: float, sample_bytes: int) -> None:
        self._cpu_s = cpu_ms / 1000
        self._numbers = max(_FEATURES, sample_bytes // 4)

    def __len__(self) -> int:
        return _ENDLESS

    def __getitem__(self, index: int) -> torch.Tensor:
        ends_s = time.thread_time() + self._cpu_s
        sample = torch.full((self._numbers,), float(index % 7))
        while time.thread_time() < ends_s:
            pass
        return sample


def main() -> None:
    """Train a small model on samples of known cost, alone or with other trainers."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--cpu_ms", type=float, default=5.0)
    parser.add_argument("--sample_bytes", type=int, default=32)
    parser.add_argument("--batch_size", type=int, default=4)
    parser.add_argument("--workers", type=int, default=0)
    asked = parser.parse_args()
    model: torch.nn.Module = torch.nn.Linear(_FEATURES, 1)
    if int(os.environ.get("WORLD_SIZE", "1")) > 1:
        distributed.init_process_group("gloo")
        model = DistributedDataParallel(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    samples = KnownCost(cpu_ms=asked.cpu_ms, sample_bytes=asked.sample_bytes)
    for batch in DataLoader(samples, batch_size=asked.batch_size, num_workers=asked.workers):
        loss = model(batch[:, :_FEATURES]).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
