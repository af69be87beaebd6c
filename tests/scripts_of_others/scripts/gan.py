"""Trains a generator against a discriminator, each with an optimizer of its own."""


import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(999)
angle = torch.rand(32) * 6.2832
real_data = TensorDataset(torch.stack([angle.cos(), angle.sin()], dim=1))
dataloader = DataLoader(real_data, batch_size=8, shuffle=True, drop_last=True)
netG = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
netD = nn.Sequential(nn.Linear(2, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))
criterion = nn.BCEWithLogitsLoss()
fixed_noise = torch.randn(8, 4)
optimizerD = torch.optim.Adam(netD.parameters(), lr=2e-3, betas=(0.5, 0.999))
optimizerG = torch.optim.Adam(netG.parameters(), lr=2e-3, betas=(0.5, 0.999))

for epoch in range(2):
    for i, (real,) in enumerate(dataloader, 0):
        netD.zero_grad()
        errD_real = criterion(netD(real), torch.ones(8, 1))
        errD_real.backward()
        fake = netG(torch.randn(8, 4))
        errD_fake = criterion(netD(fake.detach()), torch.zeros(8, 1))
        errD_fake.backward()
        optimizerD.step()

        netG.zero_grad()
        errG = criterion(netD(fake), torch.ones(8, 1))
        errG.backward()
        optimizerG.step()
    print(f"loss {(errD_real + errD_fake).item():.6f}")
    print(f"loss {errG.item():.6f}")
    with torch.no_grad():
        netG(fixed_noise)
