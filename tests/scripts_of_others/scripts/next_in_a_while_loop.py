"""Asks for batches one by one, begins anew at the end, and looks at a first batch before."""


import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
data = TensorDataset(torch.randn(12, 3), torch.randn(12, 1))
train_loader = DataLoader(data, batch_size=4, shuffle=True)
images, _ = next(iter(train_loader))
model = nn.Linear(images.shape[1], 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
step, iterator = 0, iter(train_loader)
while step < 8:
    try:
        x, y = next(iterator)
    except StopIteration:
        iterator = iter(train_loader)
        continue
    loss = nn.functional.mse_loss(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    step += 1
    print(f"loss {loss.item():.6f}")
while step < 11:
    x, y = next(iter(train_loader))
    loss = nn.functional.mse_loss(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    step += 1
    print(f"loss {loss.item():.6f}")
