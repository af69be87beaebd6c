"""Trains a small model under ``auto``; steps are made slow on one side of torch 2.10.

Tells each start of the script, and what its losses were.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

STARTS = Path(os.environ["STARTS"])
"""A line for each process in which the script began."""


def tell_start() -> None:
    """Write down which process this is, and what it was left with."""
    below = Path(f"/proc/self/task/{os.getpid()}/children").read_text(encoding="utf-8")
    descriptors = [it for it in Path("/proc/self/fd").iterdir() if int(it.name) > 2]
    line = {
        "host": os.environ["SM_CURRENT_HOST"],
        "pid": os.getpid(),
        "python": sys.executable,
        "children": below,
        "open": [str(it.readlink()) for it in descriptors if it.exists()],
    }
    with STARTS.open("a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")
    Path(os.environ["SM_OUTPUT_DATA_DIR"], f"begun-{os.getpid()}").touch()


def main() -> None:
    """Train until ``max_steps``, or until five steps after the choice where that is wanted."""
    tell_start()
    import torch

    import smtc_lab as lab

    is_new = tuple(map(int, torch.__version__.split(".")[:2])) >= (2, 10)
    is_slow = (os.environ["SLOW"] == "new") == is_new
    session = lab.Session()
    torch.manual_seed(1)
    model = torch.nn.Sequential(torch.nn.Linear(6, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.5)
    samples = torch.randn(240, 6, generator=torch.Generator().manual_seed(2))

    class Samples(torch.utils.data.Dataset[Any]):
        def __len__(self) -> int:
            return 240

        def __getitem__(self, index: int) -> Any:
            return {"x": samples[index], "y": samples[(index * 7) % 240, :1]}

    def train_step(model: Any, optimizer: Any, batch: Any) -> Any:
        # Long enough to be told apart on a busy machine, and not for longer than needed.
        time.sleep(0.4 if is_slow else 0.05 * (len(losses) < 40))
        optimizer.zero_grad()
        loss = (model(batch["x"]) - batch["y"]).square().mean()
        loss.backward()
        optimizer.step()
        return loss.detach()

    loader = session.dataloader(Samples(), batch_size=4)
    step: Any = session.compile(train_step, model, optimizer)
    losses: list[float] = []
    left = 5
    for batch in session.steps(loader, epochs=None):
        losses.append(float(step(batch)))
        if os.environ["SLOW"] == "old" and step.is_settled:
            left -= 1
            if left == 0:
                break
    path = Path(os.environ["SM_OUTPUT_DATA_DIR"], "seen.json")
    below = Path(f"/proc/self/task/{os.getpid()}/children").read_text(encoding="utf-8")
    commands = [
        Path(f"/proc/{pid}/cmdline").read_text(encoding="utf-8") for pid in below.split()
    ]
    path.write_text(json.dumps({"losses": losses, "children": commands}), encoding="utf-8")


if __name__ == "__main__":
    main()
