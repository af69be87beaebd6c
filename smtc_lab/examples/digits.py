"""Trains a small convolutional network on handwritten digits. The demo's entry point."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional

import smtc_lab as lab
from smtc_lab.examples.digits_data import Digits

LOG_EVERY = 10
"""Steps from one loss that is logged to the next."""


def make_model() -> nn.Sequential:
    """Return a network of about 14,000 parameters for images of any size."""
    return nn.Sequential(
        nn.Conv2d(1, 16, 3, stride=2, padding=1),
        nn.ReLU(),
        nn.Conv2d(16, 32, 3, stride=2, padding=1),
        nn.ReLU(),
        nn.AdaptiveAvgPool2d(4),
        nn.Flatten(),
        nn.Linear(512, 10),
    )


def train_step(
    model: nn.Module, optimizer: torch.optim.Optimizer, batch: list[torch.Tensor]
) -> torch.Tensor:
    """Run forward, loss, backward and optimizer step; return the loss."""
    images, labels = batch
    optimizer.zero_grad()
    loss = functional.cross_entropy(model(images), labels)
    loss.backward()  # type: ignore[no-untyped-call]  # torch's own
    optimizer.step()
    return loss.detach()


def main() -> None:
    """Train until the job's last step, and say what was learnt."""
    session = lab.Session()
    dataset = Digits(work=session.hyperparameter("work", 4))
    batch_size = session.hyperparameter("batch_size", 32)
    loader = session.dataloader(dataset, batch_size=batch_size, shuffle=True, drop_last=True)
    network = make_model()
    adam = torch.optim.Adam(network.parameters(), lr=session.hyperparameter("lr", 0.003))
    model, optimizer = session.prepare(network, adam)  # where trainers share it
    step = session.compile(train_step, model, optimizer)
    losses: list[torch.Tensor] = []
    for batch in session.steps(loader, epochs=session.hyperparameter("epochs", 100)):
        losses.append(step(batch))
        if len(losses) % LOG_EVERY == 1:  # to read a loss waits for the device
            session.log(loss=losses[-1])
    first, last = (float(torch.stack(part).mean()) for part in (losses[:5], losses[-5:]))
    print(f"loss: {first:.3f} in the first five steps, {last:.3f} in the last five")  # noqa: T201  the script's log
    if session.rank == 0:
        torch.save(network.state_dict(), session.model_dir / "model.pt")


if __name__ == "__main__":
    main()
