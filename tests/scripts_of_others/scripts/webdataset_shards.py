"""Streams shards with webdataset, and makes its batches in the pipeline."""


import os
import tempfile

import torch
import webdataset as wds
from torch import nn


def write_shards(folder):
    drawn = torch.Generator().manual_seed(1)
    pattern = os.path.join(folder, "shard-%03d.tar")
    with wds.ShardWriter(pattern, maxcount=8, verbose=0) as sink:
        for number in range(24):
            x = torch.rand(3, generator=drawn)
            sample = {"x.pth": x, "y.pth": x.sum(0, keepdim=True)}
            sink.write({"__key__": f"{number:06d}", **sample})
    return os.path.join(folder, "shard-{000..002}.tar")


def main():
    torch.manual_seed(0)
    with tempfile.TemporaryDirectory() as folder:
        shards = write_shards(folder)
        data = wds.WebDataset(shards, shardshuffle=False).decode().to_tuple("x.pth", "y.pth")
        loader = wds.WebLoader(data.batched(4), batch_size=None, num_workers=1)
        model = nn.Linear(3, 1)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for epoch in range(2):
            for x, y in loader:
                loss = nn.functional.mse_loss(model(x), y)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                print(f"loss {loss.item():.6f}")


if __name__ == "__main__":
    main()
