"""Tells sounds apart by their spectrograms; each has noise of its own, by its number."""


import math

import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset

RATE = 2000


class Tones(Dataset):
    def __init__(self, count):
        self.count = count
        self.window = torch.hann_window(128)

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        drawn = np.random.default_rng(index)
        label = index % 4
        seconds = torch.arange(int(RATE * drawn.uniform(0.2, 0.4))) / RATE
        wave = torch.sin(2 * math.pi * 100 * (label + 1) * seconds)
        wave += torch.from_numpy(drawn.normal(0, 0.5, len(wave))).float()
        spectrum = torch.stft(wave, 128, window=self.window, return_complex=True).abs()
        return spectrum.log1p(), label


def pad(samples):
    longest = max(spectrum.shape[1] for spectrum, _ in samples)
    padded = [nn.functional.pad(it, (0, longest - it.shape[1])) for it, _ in samples]
    return {"input": torch.stack(padded), "label": torch.tensor([it for _, it in samples])}


torch.manual_seed(0)
net = nn.Sequential(nn.Conv1d(65, 8, 3), nn.ReLU(), nn.AdaptiveAvgPool1d(1), nn.Flatten())
net.append(nn.Linear(8, 4))
adam = torch.optim.Adam(net.parameters(), lr=3e-3)
schedule = torch.optim.lr_scheduler.OneCycleLR(adam, max_lr=1e-2, total_steps=8)
train = DataLoader(Tones(24), batch_size=6, shuffle=True, collate_fn=pad, num_workers=2)
for epoch in range(2):
    for batch in train:
        loss = nn.functional.cross_entropy(net(batch["input"]), batch["label"])
        adam.zero_grad()
        loss.backward()
        adam.step()
        schedule.step()
    print(f"loss {loss.item():.6f}")
