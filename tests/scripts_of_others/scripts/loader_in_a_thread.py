"""Reads its batches in a thread of its own, as loaders for accelerators do."""


import queue
import threading

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def read(loader, batches):
    for batch in loader:
        batches.put(batch)
    batches.put(None)


torch.manual_seed(0)
data = TensorDataset(torch.randn(16, 3), torch.randn(16, 1))
loader = DataLoader(
    data, batch_size=4, shuffle=True, generator=torch.Generator().manual_seed(1)
)
model = nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(2):
    batches = queue.Queue(maxsize=1)
    thread = threading.Thread(target=read, args=(loader, batches))
    thread.start()
    while (batch := batches.get()) is not None:
        loss = nn.functional.mse_loss(model(batch[0]), batch[1])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    thread.join()
    print(f"loss {loss.item():.6f}")
