"""Opens something after training that no other process has: only the trainer can read it."""


import threading

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, TensorDataset


class Locked(Dataset):
    def __init__(self):
        self.lock = threading.Lock()

    def __len__(self):
        return 16

    def __getitem__(self, index):
        with self.lock:
            return torch.tensor([index / 16]), torch.tensor([index / 8])


torch.manual_seed(0)
model = nn.Linear(1, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x = torch.rand(16, 1)
loader = DataLoader(TensorDataset(x, 2 * x), batch_size=4, shuffle=True)
for epoch in range(2):
    for x, y in loader:
        loss = nn.functional.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.6f}")
for x, y in DataLoader(Locked(), batch_size=4):
    print(f"loss {nn.functional.mse_loss(model(x), y).item():.6f}")
