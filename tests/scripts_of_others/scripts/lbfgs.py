"""Fits a sine with L-BFGS, whose every step calls a closure several times."""


import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
torch.set_default_dtype(torch.float64)
time = torch.linspace(0, 6, 40).unsqueeze(1)
loader = DataLoader(TensorDataset(time, time.sin()), batch_size=20, shuffle=True)
model = nn.Sequential(nn.Linear(1, 8), nn.Tanh(), nn.Linear(8, 1))
optimizer = torch.optim.LBFGS(model.parameters(), lr=0.5, max_iter=5)
for epoch in range(3):
    for x, y in loader:

        def closure():
            optimizer.zero_grad()
            loss = nn.functional.mse_loss(model(x), y)
            loss.backward()
            return loss

        loss = optimizer.step(closure)
    print(f"loss {loss.item():.6f}")
