"""Contrasts two views of each sample, which its dataset distorts by the sample's number."""


from typing import NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import ConcatDataset, DataLoader, Dataset


class Pair(NamedTuple):
    first: torch.Tensor
    second: torch.Tensor
    index: int


class Views(Dataset):
    def __init__(self, count, shift):
        self.data = np.random.default_rng(shift).normal(shift, 1, (count, 6)).astype(np.float32)

    def __len__(self):
        return len(self.data)

    def distort(self, index, view):
        drawn = np.random.default_rng([index, view])
        return torch.from_numpy(self.data[index] + drawn.normal(0, 0.1, 6).astype(np.float32))

    def __getitem__(self, index):
        return Pair(self.distort(index, 0), self.distort(index, 1), index)


torch.manual_seed(0)
data = ConcatDataset([Views(16, 0), Views(16, 1)])
loader = DataLoader(data, batch_size=8, shuffle=True, drop_last=True)
encoder = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 4))
optimizer = torch.optim.SGD(encoder.parameters(), lr=0.1)
for epoch in range(2):
    for pair in loader:
        first, second = F.normalize(encoder(pair.first)), F.normalize(encoder(pair.second))
        loss = F.cross_entropy(first @ second.T / 0.1, torch.arange(len(pair.index)))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.6f}")
