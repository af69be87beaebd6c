"""Learns from labelled and from unlabelled samples at once, of two loaders side by side."""


import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(48, 3)
labelled = DataLoader(TensorDataset(x[:16], x[:16].sum(1)), batch_size=4, shuffle=True)
unlabelled = DataLoader(TensorDataset(x[16:]), batch_size=8, shuffle=True)
student = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 1), nn.Flatten(0))
optimizer = torch.optim.SGD(student.parameters(), lr=0.05, nesterov=True, momentum=0.9)
for epoch in range(2):
    for (inputs, targets), (others,) in zip(labelled, unlabelled):
        noise = 0.1 * torch.randn_like(others)
        supervised = nn.functional.mse_loss(student(inputs), targets)
        consistent = nn.functional.mse_loss(student(others), student(others + noise).detach())
        loss = supervised + 0.5 * consistent
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.6f}")
