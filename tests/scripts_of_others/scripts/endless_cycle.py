"""Draws a number of steps from an endless cycle over its loader, with a second one beside."""


import itertools

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def forever(loader):
    while True:
        yield from loader


torch.manual_seed(0)
data = TensorDataset(torch.randn(12, 3), torch.randn(12, 1))
more = TensorDataset(torch.randn(8, 3), torch.randn(8, 1))
batches = itertools.cycle(DataLoader(data, batch_size=4, shuffle=True))
others = forever(DataLoader(more, batch_size=2, shuffle=True))
model = nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
for step in range(9):
    (x, y), (u, v) = next(batches), next(others)
    loss = nn.functional.mse_loss(model(x), y) + nn.functional.l1_loss(model(u), v)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"loss {loss.item():.6f}")
