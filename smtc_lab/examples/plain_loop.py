"""A plain PyTorch training loop that knows nothing of smtc_lab."""

from __future__ import annotations

import argparse

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Waves(Dataset[tuple[torch.Tensor, torch.Tensor]]):
    """Noisy sine waves, float32 of shape (256,), with their frequency class, 0 to 7."""

    def __init__(self, num_samples: int) -> None:
        self._num_samples = num_samples

    def __len__(self) -> int:
        return self._num_samples

    def __getitem__(self, index: int) -> tuple[torch.Tensor, torch.Tensor]:
        label = index % 8
        time = torch.linspace(0, 1, 256)
        wave = torch.sin(2 * torch.pi * (label + 1) * time + index)
        for _ in range(20):
            wave = wave + 0.05 * torch.randn(256)
        return wave, torch.tensor(label)


def main() -> None:
    """Train for some epochs, as scripts everywhere do."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--batch-size", type=int, default=32)
    options = parser.parse_args()
    loader = DataLoader(Waves(1024), batch_size=options.batch_size, shuffle=True)
    model = nn.Sequential(nn.Linear(256, 64), nn.ReLU(), nn.Linear(64, 8))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(options.epochs):
        for waves, labels in loader:
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(waves), labels)
            loss.backward()  # type: ignore[no-untyped-call]  # torch's own
            optimizer.step()
        print(f"epoch {epoch}: loss {loss.item():.3f}")  # noqa: T201  the script's log


if __name__ == "__main__":
    main()
