"""Computes its blocks twice instead of keeping them, and accumulates gradients."""


import torch
from torch import nn
from torch.utils.checkpoint import checkpoint
from torch.utils.data import DataLoader, TensorDataset


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.inner = nn.Sequential(
            nn.LayerNorm(width), nn.Linear(width, width), nn.GELU(), nn.Dropout(0.1)
        )

    def forward(self, x):
        return x + checkpoint(self.inner, x, use_reentrant=False)


torch.manual_seed(0)
data = TensorDataset(torch.randn(32, 8), torch.randint(0, 3, (32,)))
loader = DataLoader(data, batch_size=4, shuffle=True)
model = nn.Sequential(*(Block(8) for _ in range(3)), nn.Linear(8, 3))
optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
accumulate = 2
for epoch in range(2):
    for number, (x, y) in enumerate(loader):
        loss = nn.functional.cross_entropy(model(x), y) / accumulate
        loss.backward()
        if (number + 1) % accumulate == 0:
            optimizer.step()
            optimizer.zero_grad()
            print(f"loss {loss.item():.6f}")
