"""Memory of a training that saves a thousand times.

``python -m notebooks.benchmarks.spot.memory <saves> <MB>`` prints one JSON list of rows.
"""

from __future__ import annotations

import json
import os
import sys
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import psutil
import torch
from torch import nn

import smtc_lab

if TYPE_CHECKING:
    from collections.abc import Iterator

_LOOKS = 10


def main(saves: int, mb: int) -> Iterator[dict[str, Any]]:
    """Yield the memory of this process after each tenth of its saves.

    Args:
        saves: How many.
        mb: Bytes of the model, in millions.
    """
    torch.set_num_threads(1)
    process = psutil.Process()
    with TemporaryDirectory() as folder:
        os.environ["SAGEMAKER_BASE_DIR"] = folder
        model = nn.ParameterList([nn.Parameter(torch.randn(mb * 250_000))])
        optimizer = torch.optim.SGD(model.parameters(), lr=1e-3, momentum=0.9)
        kept = smtc_lab.Session().checkpoint(
            model=model, optimizer=optimizer, every_steps=10**9, keep_last=2
        )
        for number in range(1, saves + 1):
            optimizer.zero_grad()
            torch.autograd.backward(next(model.parameters()).square().sum())
            optimizer.step()
            kept.step = number
            kept.save()
            kept.close()
            if number % max(1, saves // _LOOKS) == 0:
                yield {"what": "memory", "saves": number, "bytes": process.memory_info().rss}


if __name__ == "__main__":
    rows = list(main(*map(int, sys.argv[1:3])))
    sys.stdout.write(json.dumps(rows) + "\n")
