"""Draws rare classes more often, and samples of like length together."""


import random

import torch
from torch import nn
from torch.utils.data import DataLoader, Sampler, TensorDataset, WeightedRandomSampler


class ByLength(Sampler):
    """Batches of samples of like length, in an order of its own."""

    def __init__(self, lengths, batch_size):
        order = sorted(range(len(lengths)), key=lengths.__getitem__)
        self.batches = [order[i : i + batch_size] for i in range(0, len(order), batch_size)]
        self.random = random.Random(4)

    def __len__(self):
        return len(self.batches)

    def __iter__(self):
        self.random.shuffle(self.batches)
        yield from self.batches


torch.manual_seed(0)
labels = torch.tensor([0] * 20 + [1] * 4)
data = TensorDataset(torch.randn(24, 3) + labels.unsqueeze(1), labels)
weights = 1.0 / torch.bincount(labels).float()[labels]
model = nn.Linear(3, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
balanced = DataLoader(data, 6, sampler=WeightedRandomSampler(weights, len(labels)))
bucketed = DataLoader(data, batch_sampler=ByLength([i * 7 % 24 for i in range(24)], 8))
for epoch in range(2):
    for loader in (balanced, bucketed):
        for x, y in loader:
            loss = nn.functional.cross_entropy(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"loss {loss.item():.6f}")
