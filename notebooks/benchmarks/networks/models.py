"""Ten well-known networks with random weights, their data, their optimizers and their steps."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import torch
from torch import nn
from torch.nn import functional

from notebooks.benchmarks.networks.synthetic import images
from smtc_lab.errors import EntryPointError
from smtc_lab.examples.digits import train_step

if TYPE_CHECKING:
    from torch.utils.data import Dataset

    from smtc_lab.compiler.step import TrainStep

VISION_MODELS = ("mnist_cnn", "resnet18", "resnet50", "vit_tiny")
LANGUAGE_MODELS = ("distilbert", "bert", "gpt2", "t5", "roberta", "xlm_roberta")
MODELS = VISION_MODELS + LANGUAGE_MODELS
"""Names of all networks."""

CNNS = ("mnist_cnn", "resnet18", "resnet50")
"""Those made of convolutions; the others are transformers."""

SIZES = ("small", "full")
"""``full``: as published. ``small``: fewer layers, narrower, shorter sequences or smaller
images, so that a step takes 0.1 to 0.5 s on one core."""


@dataclass(frozen=True, kw_only=True)
class Workload:
    """Everything that a training loop needs."""

    model: nn.Module
    """With random weights, in training mode."""

    dataset: Dataset[Any]
    """Synthetic samples of the shape that the network takes."""

    optimizer: torch.optim.Optimizer
    """The one that the network is usually trained with, at torch's defaults."""

    train_step: TrainStep
    """Forward, loss, backward and optimizer step."""

    batch_size: int
    """Samples that suit this size on a CPU."""


def workload(
    name: str, *, size: str = "small", dropout: float = 0.1, device: str = "cpu"
) -> Workload:
    """Return a network with all that its training needs.

    Args:
        name: One of ``MODELS``.
        size: ``small`` or ``full``.
        dropout: Probability, 0 to 1, wherever the network has dropout; ResNets have none.
        device: Where the model lies.

    Raises:
        EntryPointError: Name or size is unknown, or the package with the network is missing.
    """
    if name not in MODELS or size not in SIZES:
        raise EntryPointError(
            f"There is no model {name!r} of size {size!r}. Choose among {', '.join(MODELS)}, "
            "and 'small' or 'full'."
        )
    model, dataset, batch_size = _made(name, small=size == "small", dropout=dropout)
    model.to(device)
    return Workload(
        model=model.train(),
        dataset=dataset,
        optimizer=_optimizer(name, model),
        train_step=train_step if name in VISION_MODELS else text_step,
        batch_size=batch_size,
    )


def _made(name: str, *, small: bool, dropout: float) -> tuple[nn.Module, Dataset[Any], int]:
    """Return a network, its data and a batch size."""
    if name == "mnist_cnn":
        return MnistCnn(dropout=dropout), images(channels=1, size=28, classes=10), 64
    package = "torchvision" if name in VISION_MODELS else "transformers"
    if find_spec(package) is None:
        raise EntryPointError(
            f"The model {name!r} comes with the package {package!r}, which is not installed. "
            "Run: pip install 'smtc-lab[models]'."
        )
    if name in VISION_MODELS:
        from notebooks.benchmarks.networks.vision_models import (  # noqa: PLC0415  needs torchvision
            vision_model,
        )

        return vision_model(name, small=small, dropout=dropout)
    from notebooks.benchmarks.networks.language_models import (  # noqa: PLC0415  needs transformers
        language_model,
    )

    return language_model(name, small=small, dropout=dropout)


class MnistCnn(nn.Module):
    """The network of torch's MNIST example: two convolutions, 1.2 million parameters."""

    def __init__(self, *, dropout: float) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(1, 32, 3)
        self.conv2 = nn.Conv2d(32, 64, 3)
        self.dropout = nn.Dropout(dropout)
        self.fc1 = nn.Linear(9216, 128)
        self.fc2 = nn.Linear(128, 10)

    def forward(self, pixels: torch.Tensor) -> torch.Tensor:
        """Return ten scores for each image of 28 x 28."""
        x = functional.relu(self.conv1(pixels))
        x = functional.relu(self.conv2(x))
        x = self.dropout(functional.max_pool2d(x, 2)).flatten(1)
        x = self.dropout(functional.relu(self.fc1(x)))
        scores: torch.Tensor = self.fc2(x)
        return scores


def text_step(
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    batch: dict[str, torch.Tensor],
) -> torch.Tensor:
    """Run one step of a model of the transformers library; return the loss."""
    optimizer.zero_grad()
    loss: torch.Tensor = model(**batch).loss
    loss.backward()  # type: ignore[no-untyped-call]  # torch's own
    optimizer.step()
    return loss.detach()


def _optimizer(name: str, model: nn.Module) -> torch.optim.Optimizer:
    if name == "mnist_cnn":
        return torch.optim.Adadelta(model.parameters())
    if name in CNNS:
        return torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9, weight_decay=1e-4)
    return torch.optim.AdamW(model.parameters(), lr=1e-4)
