"""A script with a convolutional network, for XLA once its device line says so."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import torch
from torch import nn
from torch.nn import functional

if TYPE_CHECKING:
    from collections.abc import Callable

REPLACED = ("dropout", "linear", "scaled_dot_product_attention")


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Conv2d(1, 4, 3)
        self.norm = nn.BatchNorm2d(4)
        self.second = nn.Conv2d(4, 64, 3)
        self.head = nn.Linear(64, 2)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        images = functional.max_pool2d(self.norm(self.first(images)).relu(), 2)
        hidden: torch.Tensor = self.head(self.second(images).mean((2, 3)))
        return hidden


def train(
    device: str, before_step: Callable[[nn.Module], object] = lambda _: None
) -> dict[str, Any]:
    torch.manual_seed(1)
    model = Net().to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    losses = []
    for batch in torch.randn(6, 1, 10, 10).split(2):
        before_step(model)
        optimizer.zero_grad()
        loss = model(batch.to(device)).square().mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert model.norm.running_var is not None
    running_var = model.norm.running_var.tolist()
    with torch.autocast("cuda", torch.bfloat16, enabled=device != "cpu"):
        output = model(batch.to(device))
    answer = model.eval()(batch.to(device))
    return {
        "losses": losses,
        "running_var": running_var,
        "functions_of_torch": [name for name in REPLACED if is_of_torch(name)],
        "mixed": {"output": str(output.dtype), "answer": str(answer.device)},
    }


def is_of_torch(name: str) -> bool:
    module: str = getattr(functional, name).__module__
    return module.partition(".")[0] == "torch"


if __name__ == "__main__":
    print(json.dumps(train("xla")))  # noqa: T201  what the test reads
