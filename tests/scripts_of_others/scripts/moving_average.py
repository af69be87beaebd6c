"""Keeps a moving average of the model, renews its batch norm, and evaluates that one."""


import torch
from torch import nn
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn, update_bn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(24, 4)
data = TensorDataset(x, x.pow(2).sum(1, keepdim=True))
loader = DataLoader(data, batch_size=6, shuffle=True)
model = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 1))
ema = AveragedModel(model, multi_avg_fn=get_ema_multi_avg_fn(0.9))
optimizer = torch.optim.RMSprop(model.parameters(), lr=0.01)
for epoch in range(2):
    for inputs, targets in loader:
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(inputs), targets)
        loss.backward()
        optimizer.step()
        ema.update_parameters(model)
    print(f"loss {loss.item():.6f}")
update_bn(loader, ema)
ema.eval()
with torch.no_grad():
    for inputs, targets in loader:
        print(f"loss {nn.functional.mse_loss(ema(inputs), targets).item():.6f}")
