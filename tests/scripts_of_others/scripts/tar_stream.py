"""Streams samples out of tar files, sharded over the loader's workers, and shuffled a little."""


import io
import json
import os
import random
import tarfile
import tempfile

import torch
from torch import nn
from torch.utils.data import DataLoader, IterableDataset, get_worker_info


def add(tar, name, content):
    member = tarfile.TarInfo(name)
    member.size = len(content)
    tar.addfile(member, io.BytesIO(content))


def write_shards(folder, shards=4, samples=6):
    drawn = torch.Generator().manual_seed(1)
    for shard in range(shards):
        with tarfile.open(os.path.join(folder, f"{shard:04d}.tar"), "w") as tar:
            for number in range(samples):
                x = torch.rand(3, generator=drawn)
                add(tar, f"{number:06d}.x.json", json.dumps(x.tolist()).encode())
                add(tar, f"{number:06d}.y.json", json.dumps(x.sum().item()).encode())
    return [os.path.join(folder, name) for name in sorted(os.listdir(folder))]


class Shards(IterableDataset):
    def __init__(self, urls, buffer=4):
        self.urls, self.buffer = urls, buffer

    def samples(self, urls):
        for url in urls:
            with tarfile.open(url) as tar:
                for member in tar:
                    sample = json.load(tar.extractfile(member))
                    if member.name.endswith(".x.json"):
                        x = sample
                    else:
                        yield torch.tensor(x), torch.tensor([sample])

    def __iter__(self):
        worker = get_worker_info()
        number, workers = (worker.id, worker.num_workers) if worker else (0, 1)
        drawn, kept = random.Random(number), []
        for sample in self.samples(self.urls[number::workers]):
            kept.append(sample)
            if len(kept) > self.buffer:
                yield kept.pop(drawn.randrange(len(kept)))
        yield from kept


def main():
    torch.manual_seed(0)
    with tempfile.TemporaryDirectory() as folder:
        loader = DataLoader(Shards(write_shards(folder)), batch_size=4, num_workers=2)
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
