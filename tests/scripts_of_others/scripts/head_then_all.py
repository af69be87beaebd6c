"""Trains the head alone first, and then all, with an optimizer for each; both stay."""


import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
data = TensorDataset(torch.randn(16, 4), torch.randint(0, 3, (16,)))
loader = DataLoader(data, batch_size=4, shuffle=True)
body, head = nn.Sequential(nn.Linear(4, 8), nn.ReLU()), nn.Linear(8, 3)


def train(optimizer):
    for x, y in loader:
        loss = nn.functional.cross_entropy(head(body(x)), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.6f}")


body.requires_grad_(False)
warm_up = torch.optim.SGD(head.parameters(), lr=0.1)
train(warm_up)
body.requires_grad_(True)
optimizer = torch.optim.AdamW([*body.parameters(), *head.parameters()], lr=0.01)
train(optimizer)
