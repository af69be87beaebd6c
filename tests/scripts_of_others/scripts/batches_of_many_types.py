"""Collates to a dataclass that holds all sorts of things."""


import dataclasses
import datetime
import enum
import pathlib

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Split(enum.Enum):
    TRAIN = "train"


@dataclasses.dataclass
class Batch:
    x: torch.Tensor
    y: torch.Tensor
    splits: set
    paths: list
    days: list
    sparse: torch.Tensor


class Numbers(Dataset):
    def __len__(self):
        return 16

    def __getitem__(self, index):
        return index


def collate(indices):
    x = torch.tensor([[index / 16] for index in indices])
    return Batch(
        x=x,
        y=2 * x,
        splits={Split.TRAIN},
        paths=[pathlib.Path(f"{index}.png") for index in indices],
        days=[datetime.date(2026, 1, 1 + index) for index in indices],
        sparse=torch.eye(len(indices)).to_sparse(),
    )


torch.manual_seed(0)
loader = DataLoader(Numbers(), batch_size=4, shuffle=True, collate_fn=collate)
model = nn.Linear(1, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(2):
    for batch in loader:
        assert batch.splits == {Split.TRAIN}
        assert [int(path.stem) + 1 for path in batch.paths] == [day.day for day in batch.days]
        loss = nn.functional.mse_loss(batch.sparse @ model(batch.x), batch.y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.6f}")
