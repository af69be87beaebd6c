"""The job of the benchmarks that launch one: small, saved by its session, told its kind."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from smtc_lab.launchers.local.launcher import LocalLauncher
from smtc_lab.launchers.run import Run
from smtc_lab.spec.cluster import Cluster
from smtc_lab.spec.job import TrainingJob

if TYPE_CHECKING:
    from pathlib import Path

_SCRIPT = """\
import random

import numpy as np
import torch
from torch import nn

import smtc_lab

torch.set_num_threads(1)


class Noisy(torch.utils.data.Dataset):
    def __len__(self):
        return 512

    def __getitem__(self, index):
        noise = random.random() + float(np.random.rand())
        return torch.rand(16) + 0.1 * index + noise


class Stream(torch.utils.data.IterableDataset):
    def __iter__(self):
        info, samples = torch.utils.data.get_worker_info(), Noisy()
        first, stride = (0, 1) if info is None else (info.id, info.num_workers)
        return (samples[index] for index in range(first, len(samples), stride))


def train(model, optimizer, values):
    optimizer.zero_grad()
    loss = (model(values) - values.mean(1, keepdim=True).sin()).square().mean()
    loss.backward()
    optimizer.step()
    return loss.detach()


if __name__ == "__main__":
    session = smtc_lab.Session()
    torch.manual_seed(3)
    np.random.seed(4)
    random.seed(5)
    width = session.hyperparameter("width", 64)
    model = nn.Sequential(
        nn.Linear(16, width), nn.Tanh(), nn.Dropout(0.3), nn.Linear(width, width), nn.Tanh(),
        nn.Linear(width, 1),
    )
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    model, optimizer = session.prepare(model, optimizer)
    workers = session.hyperparameter("workers", 0)
    kind = session.hyperparameter("loader", "ours")
    if kind == "stream":
        loader = session.dataloader(Stream(), batch_size=8, num_workers=workers)
    else:
        make = session.dataloader if kind == "ours" else torch.utils.data.DataLoader
        loader = make(Noisy(), batch_size=8, shuffle=True, num_workers=workers)
    every = session.hyperparameter("save_every", 5)
    saved = {} if every == 0 else {"every_steps": every}
    if every >= 0:
        session.checkpoint(model=model, optimizer=optimizer, **saved)
    step = lambda values: train(model, optimizer, values)
    if session.hyperparameter("compiled", 0):
        step = session.compile(train, model, optimizer)
    for values in session.steps(loader, epochs=None):
        step(values)
"""
"""``save_every``: steps between two saves, 0: as often as pays, below 0: never."""


def job_of(folder: Path, cluster: str = "trainers=local:1", **values: Any) -> TrainingJob:  # noqa: ANN401  fields of a job
    """Return the job, whose script is written to a folder.

    Args:
        folder: It is made.
        cluster: Where it runs.
        **values: Other fields; ``hyperparameters`` as the script reads them.
    """
    folder.mkdir(parents=True, exist_ok=True)
    script = folder / "train_noisy.py"
    script.write_text(_SCRIPT, encoding="utf-8")
    return TrainingJob(
        entry_point=str(script),
        cluster=Cluster.parse(cluster),
        environment={"OMP_NUM_THREADS": "1"},
        **values,
    )


def started(folder: Path, job: TrainingJob) -> Run:
    """Return a run of a job that has begun, below a folder."""
    launcher = LocalLauncher(root=folder / "runs")
    return Run(launcher, launcher.start(launcher.plan(job)))
