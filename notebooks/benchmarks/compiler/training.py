"""Training of one of ten well-known networks on synthetic data, under any compiler.

Hyperparameters: ``model``, ``size``, ``dropout``, ``batch_size`` (0: what suits the model) and
``steps``; see ``notebooks.benchmarks.networks.models``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch.utils.data import Subset

import smtc_lab as lab
from notebooks.benchmarks.networks.models import workload

if TYPE_CHECKING:
    from collections.abc import Callable


def train(before_step: Callable[[], bool] | None = None) -> list[torch.Tensor]:
    """Train as the job's hyperparameters say; return the loss of each step.

    Args:
        before_step: Called before each step, when the one before it has been computed; the
            training ends when it returns False.
    """
    session = lab.Session()
    name = session.hyperparameter("model", "mnist_cnn")
    size = session.hyperparameter("size", "small")
    torch.manual_seed(session.hyperparameter("seed", 0))
    made = workload(
        name,
        size=size,
        dropout=session.hyperparameter("dropout", 0.1),
        device="cuda" if torch.cuda.is_available() else "cpu",
    )
    batch_size = session.hyperparameter("batch_size", 0) or made.batch_size
    samples = range(batch_size * session.hyperparameter("steps", 20))
    loader = session.dataloader(
        Subset(made.dataset, samples), batch_size=batch_size, shuffle=True, num_workers=0
    )
    step = session.compile(made.train_step, made.model, made.optimizer)
    losses = []
    for batch in session.steps(loader):
        if before_step is not None and not before_step():
            break
        losses.append(step(batch))
    return losses
