"""Logs its losses to Weights & Biases, without a network."""


import os

os.environ |= {"WANDB_MODE": "offline", "WANDB_SILENT": "true"}
import torch
import wandb
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
data = TensorDataset(torch.randn(16, 4), torch.randint(0, 3, (16,)))
loader = DataLoader(data, batch_size=4, shuffle=True)
model = nn.Linear(4, 3)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
run = wandb.init(project="losses")
for epoch in range(2):
    for x, y in loader:
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        wandb.log({"train": {"loss": loss}, "note": "text"})
    run.log({"epoch": epoch})
    print(f"loss {loss.item():.6f}")
run.finish()
