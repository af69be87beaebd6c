"""Splits its data off again after training, by the trainer's random numbers."""


import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split

torch.manual_seed(0)
data = TensorDataset(torch.randn(16, 3), torch.randn(16, 1))
model = nn.Sequential(nn.Linear(3, 4), nn.Dropout(0.5), nn.Linear(4, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loader = DataLoader(data, batch_size=4, shuffle=True)
for epoch in range(2):
    for x, y in loader:
        loss = nn.functional.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.6f}")
    held_out, _ = random_split(data, [8, 8])
    with torch.no_grad():
        for x, y in DataLoader(held_out, batch_size=4):
            print(f"loss {nn.functional.mse_loss(model(x), y).item():.6f}")
