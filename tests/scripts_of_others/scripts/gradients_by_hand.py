"""Applies its gradients by itself, without an optimizer."""


import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(16, 3)
loader = DataLoader(TensorDataset(x, x.sum(1, keepdim=True)), batch_size=4, shuffle=True)
weight = torch.zeros(3, 1, requires_grad=True)
lr = 0.1
for epoch in range(2):
    for inputs, targets in loader:
        loss = ((inputs @ weight - targets) ** 2).mean()
        loss.backward()
        with torch.no_grad():
            weight -= lr * weight.grad
            weight.grad = None
    print(f"loss {loss.item():.6f}")
