"""Tells TensorBoard its losses: each step's, and two of an epoch at once."""


import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.tensorboard import SummaryWriter

torch.manual_seed(0)
data = TensorDataset(torch.randn(16, 4), torch.randint(0, 3, (16,)))
loader = DataLoader(data, batch_size=4, shuffle=True)
model = nn.Linear(4, 3)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
writer = SummaryWriter("events")
step = 0
for epoch in range(2):
    for x, y in loader:
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        step += 1
        writer.add_scalar("loss/train", loss, step)
    writer.add_scalar("loss/valid", 2 * loss.item(), epoch)
    writer.add_scalars("both", {"a": loss.item(), "b": 0.5}, epoch)
    print(f"loss {loss.item():.6f}")
writer.close()
