"""Leaves batches out whose samples raise an exception of its own."""


import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Rotten(Exception):
    pass


class Numbers(Dataset):
    def __len__(self):
        return 32

    def __getitem__(self, index):
        if index == 5:
            raise Rotten("number five")
        return torch.tensor([index / 32]), torch.tensor([index / 16])


torch.manual_seed(0)
model = nn.Linear(1, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
batches = iter(DataLoader(Numbers(), batch_size=4))
while True:
    try:
        x, y = next(batches)
    except StopIteration:
        break
    except Rotten:
        print("left out")
        continue
    loss = nn.functional.mse_loss(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"loss {loss.item():.6f}")
