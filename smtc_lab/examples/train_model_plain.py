"""Trains a network in a plain PyTorch loop that knows nothing of smtc_lab.

For XLA the device is all that changes: ``--device xla``.
"""

from __future__ import annotations

import argparse

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

CLASSES = 10


def make_model(name: str) -> nn.Module:
    """Return a classifier of images of 3 x 32 x 32, with random weights."""
    if name == "resnet18":
        from torchvision import models  # noqa: PLC0415  the others do without

        model: nn.Module = models.resnet18(weights=None, num_classes=CLASSES)
        return model
    if name == "transformer":
        layer = nn.TransformerEncoderLayer(96, 4, 384, batch_first=True)
        return nn.Sequential(
            nn.Flatten(2),
            nn.Linear(1024, 96),
            nn.TransformerEncoder(layer, 4, enable_nested_tensor=False),
            nn.Flatten(),
            nn.Linear(3 * 96, CLASSES),
        )
    return nn.Sequential(
        nn.Conv2d(3, 16, 3, stride=2, padding=1),
        nn.ReLU(),
        nn.Conv2d(16, 32, 3, stride=2, padding=1),
        nn.ReLU(),
        nn.AdaptiveAvgPool2d(4),
        nn.Flatten(),
        nn.Linear(512, CLASSES),
    )


def main() -> None:
    """Train for some steps, as scripts everywhere do."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", choices=["cnn", "resnet18", "transformer"], default="cnn")
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--lr", type=float, default=0.001)
    parser.add_argument("--device", default="cpu")
    options = parser.parse_args()

    device = torch.device(options.device)
    model = make_model(options.model).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=options.lr)
    samples = options.steps * options.batch_size
    labels = torch.randint(CLASSES, (samples,))
    images = torch.randn(samples, 3, 32, 32) + labels[:, None, None, None] / CLASSES
    loader = DataLoader(TensorDataset(images, labels), batch_size=options.batch_size)
    for batch, targets in loader:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(batch.to(device)), targets.to(device))
        loss.backward()  # type: ignore[no-untyped-call]  # torch's own
        optimizer.step()
    print(f"loss: {loss.item():.3f} in the last step")  # noqa: T201  the script's log


if __name__ == "__main__":
    main()
