"""A training with everything that a resume has to bring back, and its script."""

from __future__ import annotations

import os
import random
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, IterableDataset, get_worker_info

from smtc_lab.dataservice.placement import ServerAddress

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

EPOCHS = 4
SAMPLES = 56
BATCH = 8
STEPS = EPOCHS * SAMPLES // BATCH
SECRET = b"s" * 32
served_by: set[str] = set()
"""Data servers that have made batches of this process."""

SCRIPT = """
import hashlib, json, os, random, sys, threading
import numpy as np
import torch
from torch import nn
import smtc_lab
from tests.runtime.resuming.trained import EPOCHS, batches_of, model_of, served_by, step_of

torch.manual_seed(3)
np.random.seed(4)
random.seed(5)
options = json.loads(os.environ["OPTIONS"])
session = smtc_lab.Session()
model = model_of()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
model, optimizer = session.prepare(model, optimizer)
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=EPOCHS)
loader = batches_of(session, options)
told = {"losses": [], "samples": []}
kept = session.checkpoint(
    model=model, optimizer=optimizer, scheduler=scheduler, told=told, every_steps=3)
step = step_of(session, model, optimizer, options)
kill_at, pause = options.get("kill_at"), threading.Event()
for epoch in range(EPOCHS):
    for batch in session.steps(loader):
        indices, values = batch
        noise = float(torch.randn(1)) + np.random.rand() + random.random()
        values = values + 0.01 * noise
        loss = step(values)
        told["losses"].append(float(loss))
        told["samples"].append(indices.tolist())
        if kill_at is not None and kept.step + 1 == kill_at[0]:
            delay_s, kill_at = kill_at[1], None
            if options.get("waits"):
                kept.close()
            threading.Timer(delay_s, os.kill, (os.getpid(), 9)).start()
        pause.wait(options.get("step_s", 0))
        if kept.step + 1 == options.get("told_at"):
            os.kill(os.getpid(), 15)
    scheduler.step()
kept.close()
whole = lambda one: one.full_tensor() if hasattr(one, "full_tensor") else one
state = {name: whole(one).tolist() for name, one in model.state_dict().items()}
moments = [
    [float(whole(one["exp_avg"]).sum()), float(whole(one["step"]))]
    for one in optimizer.state_dict()["state"].values()
]
print(json.dumps({
    "state": hashlib.sha256(json.dumps(state).encode()).hexdigest(),
    "moments": moments,
    "rate": scheduler.get_last_lr(),
    "resumed": kept.resumed_step,
    "served_by": sorted(served_by),
    "drawn": [float(torch.rand(1)), float(np.random.rand()), random.random()],
    **told,
}))
"""


class Noisy(Dataset[Any]):
    """Samples whose values are drawn when they are read, from three generators."""

    def __len__(self) -> int:
        return SAMPLES

    def __getitem__(self, index: int) -> tuple[int, torch.Tensor]:
        if path := os.environ.get("READ"):
            with Path(path).open("a", encoding="utf-8") as file:
                file.write(f"{index}\n")
        noise = random.random() + float(np.random.rand())  # noqa: NPY002, S311  as scripts do
        return index, torch.rand(6) + 0.1 * index + noise


class Stream(IterableDataset[Any]):
    """The same samples, one after the other; of each data worker its batches."""

    def __iter__(self) -> Iterator[tuple[int, torch.Tensor]]:
        info, samples = get_worker_info(), Noisy()
        num, worker = (1, 0) if info is None else (info.num_workers, info.id)
        for index in range(SAMPLES):
            if index // BATCH % num == worker:
                yield samples[index]


def model_of() -> nn.Module:
    """Return a model with dropout."""
    return nn.Sequential(
        nn.Linear(6, 24),
        nn.Tanh(),
        nn.Dropout(0.3),
        nn.Linear(24, 24),
        nn.Tanh(),
        nn.Dropout(0.3),
        nn.Linear(24, 1),
    )


def batches_of(session: Any, options: dict[str, Any]) -> Any:
    """Return the loader of a session, of which each epoch has 7 batches."""
    where: dict[str, Any] = {"num_workers": options.get("workers", 0)}
    size = BATCH // session.world_size
    if options.get("torchs"):
        return DataLoader(Noisy(), batch_size=size, shuffle=True, **where)
    if (servers := options.get("servers")) is not None:
        where["seed"] = 11
    if servers:
        where["servers"] = [ServerAddress(*one) for one in servers]
        where |= {"secret": SECRET, "journal": _note_server}
    if options.get("stream"):
        return session.dataloader(Stream(), batch_size=size, **where)
    return session.dataloader(Noisy(), batch_size=size, shuffle=True, **where)


def _note_server(told: Mapping[str, Any]) -> None:
    if told["what"] == "answered":
        served_by.add(told["server"])


def step_of(session: Any, model: nn.Module, optimizer: Any, options: dict[str, Any]) -> Any:
    """Return a training step, compiled where that is asked for."""

    def train(model: nn.Module, optimizer: Any, values: torch.Tensor) -> torch.Tensor:
        optimizer.zero_grad()
        loss: torch.Tensor = (
            (model(values) - values.mean(1, keepdim=True).sin()).square().mean()
        )
        loss.backward()
        optimizer.step()
        return loss.detach()

    if options.get("compiled"):
        return session.compile(train, model, optimizer)
    return lambda values: train(model, optimizer, values)
