"""How long a process takes to go on in the middle of a long epoch.

``python -m notebooks.benchmarks.spot.place <folder> <samples> <steps>`` trains so many steps
and ends; again, it goes on behind them. It prints how long that took, as JSON.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import torch
from torch import nn
from torch.utils.data import Dataset

import smtc_lab
from notebooks.benchmarks.harness.fresh import measured

if TYPE_CHECKING:
    from collections.abc import Iterator

BATCH = 64


class _Numbers(Dataset[int]):
    """Samples that are their own numbers."""

    def __init__(self, samples: int) -> None:
        self._samples = samples

    def __len__(self) -> int:
        return self._samples

    def __getitem__(self, index: int) -> int:
        return index


def main(folder: str, samples: int, steps: int) -> dict[str, Any]:
    """Train up to the given step of an epoch, or go on behind it with one more.

    Returns:
        ``seconds`` from the call of ``session.checkpoint`` to the next batch, and where it is.
    """
    torch.set_num_threads(1)
    os.environ["SAGEMAKER_BASE_DIR"] = folder
    torch.manual_seed(0)
    session = smtc_lab.Session()
    linear = nn.Linear(1, 1)
    model, optimizer = session.prepare(linear, torch.optim.SGD(linear.parameters(), lr=1e-9))
    loader = session.dataloader(
        _Numbers(samples), batch_size=BATCH, shuffle=True, num_workers=0
    )
    began_s = time.perf_counter()
    kept = session.checkpoint(model=model, optimizer=optimizer, every_steps=10**9)
    took_s, first = 0.0, kept.step
    for number, batch in enumerate(session.steps(loader)):
        if not number:
            took_s = time.perf_counter() - began_s
        optimizer.zero_grad()
        model(batch[:, None].float()).mean().backward()
        optimizer.step()
        if first or number + 2 == steps:
            break
    if not first:
        kept.step += 1  # of the step whose loop was left
        kept.save()
        kept.close()
    return {"what": "place", "samples": samples, "step": first, "seconds": took_s}


def place_rounds(*, samples: int, rounds: int) -> Iterator[dict[str, Any]]:
    """Yield how long it takes to go on in the middle of an epoch, each in a fresh process."""
    steps = samples // BATCH // 2
    with TemporaryDirectory() as folder:
        for number in range(rounds + 1):
            row = measured("a place", "-m", __spec__.name, folder, str(samples), str(steps))
            if number:  # the first one comes there
                yield {**row, "round": number - 1}


if __name__ == "__main__":
    told = main(str(Path(sys.argv[1])), *map(int, sys.argv[2:4]))
    sys.stdout.write(json.dumps(told) + "\n")
