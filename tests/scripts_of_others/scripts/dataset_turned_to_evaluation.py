"""Turns one dataset from training to evaluation, and back."""


import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Numbers(Dataset):
    training = True

    def __init__(self):
        self.shift = 1.0

    def __len__(self):
        return 16

    def __getitem__(self, index):
        return torch.tensor([index / 16 + self.shift]), torch.tensor([index / 16])


torch.manual_seed(0)
data = Numbers()
model = nn.Linear(1, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(2):
    data.shift = 1.0
    for x, y in DataLoader(data, batch_size=4, shuffle=True):
        loss = nn.functional.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    data.shift = 0.0
    for x, y in DataLoader(data, batch_size=4):
        print(f"loss {nn.functional.mse_loss(model(x), y).item():.6f}")
