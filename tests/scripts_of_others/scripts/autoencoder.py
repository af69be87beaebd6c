"""Draws from what it encodes, on the device that is there, and evaluates with a second loader."""


import argparse

import torch
import torch.utils.data
from torch import nn, optim
from torch.nn import functional as F

parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=2)
parser.add_argument("--seed", type=int, default=1)
args = parser.parse_args()
torch.manual_seed(args.seed)
use_accel = torch.accelerator.is_available()
device = torch.accelerator.current_accelerator() if use_accel else torch.device("cpu")
kwargs = {"num_workers": 1, "pin_memory": True} if use_accel else {}
images = (torch.rand(40, 1, 6, 6) > 0.5).float()
train_loader = torch.utils.data.DataLoader(images[:32], batch_size=8, shuffle=True, **kwargs)
test_loader = torch.utils.data.DataLoader(images[32:], batch_size=8, shuffle=False, **kwargs)


class VAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.encode, self.decode = nn.Linear(36, 8), nn.Linear(4, 36)

    def forward(self, x):
        mu, logvar = self.encode(x.flatten(1)).chunk(2, dim=1)
        z = mu + torch.randn_like(mu) * torch.exp(0.5 * logvar)
        return torch.sigmoid(self.decode(z)), mu, logvar


def loss_function(recon, x, mu, logvar):
    bce = F.binary_cross_entropy(recon, x.flatten(1), reduction="sum")
    return bce - 0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())


model = VAE().to(device)
optimizer = optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(args.epochs):
    model.train()
    for data in train_loader:
        data = data.to(device)
        optimizer.zero_grad()
        recon, mu, logvar = model(data)
        loss = loss_function(recon, data, mu, logvar)
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.4f}")
    model.eval()
    with torch.no_grad():
        for data in test_loader:
            recon, mu, logvar = model(data.to(device))
            print(f"loss {loss_function(recon, data.to(device), mu, logvar).item():.4f}")
