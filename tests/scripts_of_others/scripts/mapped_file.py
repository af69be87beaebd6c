"""Reads tokens from a file that is mapped into memory, and saves the best model."""


import os
import tempfile

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Tokens(Dataset):
    def __init__(self, path, block):
        self.path, self.block, self.mapped = path, block, None
        self.count = os.path.getsize(path) // 2

    def __len__(self):
        return (self.count - 1) // self.block

    def __getitem__(self, index):
        if self.mapped is None:
            self.mapped = np.memmap(self.path, dtype=np.uint16, mode="r")
        at = index * self.block
        piece = self.mapped[at : at + self.block + 1].astype(np.int64)
        return torch.from_numpy(piece[:-1]), torch.from_numpy(piece[1:])


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(20, 16)
        self.place = nn.Parameter(torch.zeros(8, 16))
        self.layer = nn.TransformerEncoderLayer(16, 2, 32, dropout=0.1, batch_first=True)
        self.out = nn.Linear(16, 20)

    def forward(self, tokens):
        mask = nn.Transformer.generate_square_subsequent_mask(tokens.shape[1])
        return self.out(self.layer(self.embed(tokens) + self.place, src_mask=mask, is_causal=True))


def main():
    torch.manual_seed(1337)
    with tempfile.TemporaryDirectory() as folder:
        path, saved = os.path.join(folder, "train.bin"), os.path.join(folder, "best.pt")
        (np.cumsum(np.arange(257) % 5) % 20).astype(np.uint16).tofile(path)
        loader = DataLoader(
            Tokens(path, 8), 8, shuffle=True, num_workers=1, persistent_workers=True
        )
        model, best = Model(), float("inf")
        optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
        for epoch in range(2):
            for x, y in loader:
                loss = nn.functional.cross_entropy(model(x).flatten(0, 1), y.flatten())
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
            if loss.item() < best:
                best = loss.item()
                torch.save({"model": model.state_dict(), "epoch": epoch}, saved)
            print(f"loss {loss.item():.6f}")
        model.load_state_dict(torch.load(saved)["model"])


if __name__ == "__main__":
    main()
