"""A training script whose trainers train one model, as ``Session.prepare`` wraps it."""

from __future__ import annotations

PREPARED_SCRIPT = """\
import torch
from torch import nn
import smtc_lab

session = smtc_lab.Session()
torch.manual_seed(0)
data = torch.utils.data.TensorDataset(torch.randn(400, 8))
loader = session.dataloader(
    data, batch_size=session.hyperparameter("batch_size", 8), shuffle=True, num_workers=0
)
inner = [nn.BatchNorm1d(32)] if session.hyperparameter("batch_norm", False) else []
blocks = [nn.Sequential(nn.Linear(32, 32), nn.GELU(), nn.Dropout(0.3)) for _ in range(3)]
model = nn.Sequential(nn.Linear(8, 32), *inner, nn.Sequential(*blocks), nn.Linear(32, 4))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
model, optimizer = session.prepare(model, optimizer)
for (values,) in session.steps(loader):
    loss = (model(values) - values[:, :4].sin()).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
