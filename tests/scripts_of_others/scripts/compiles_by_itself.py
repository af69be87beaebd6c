"""Compiles its model by itself."""


import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
data = TensorDataset(torch.randn(16, 6), torch.randn(16, 1))
loader = DataLoader(data, batch_size=4, shuffle=True)
model = nn.Sequential(nn.Linear(6, 12), nn.SiLU(), nn.Linear(12, 1))
compiled = torch.compile(model, backend="aot_eager")
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)


@torch.compile(backend="aot_eager")
def compute_loss(said, y):
    return (said - y).square().mean() + (said - y).abs().mean()


for epoch in range(2):
    for x, y in loader:
        loss = compute_loss(compiled(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.6f}")
