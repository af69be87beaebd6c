"""A language model that takes RANK in the environment as a sign that torchrun has started it.

nanoGPT, the reference scripts of torchvision and what was derived from them decide this way, and
then ask for NCCL and a GPU.
"""



import argparse
import os

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Text(Dataset):
    def __init__(self, length, block):
        self.tokens = torch.arange(length) * 7 % 29
        self.block = block

    def __len__(self):
        return (len(self.tokens) - 1) // self.block

    def __getitem__(self, index):
        piece = self.tokens[index * self.block :][: self.block + 1]
        return piece[:-1], piece[1:]


def where(asked):
    if "RANK" not in os.environ:
        return asked, False
    torch.distributed.init_process_group(backend="nccl")
    device = f"cuda:{os.environ['LOCAL_RANK']}"
    torch.cuda.set_device(device)
    return device, True


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--device", default="cpu")
    device, distributed = where(parser.parse_args().device)
    torch.manual_seed(1337)
    loader = DataLoader(Text(1025, 16), batch_size=8, shuffle=True)
    model = nn.Sequential(nn.Embedding(29, 32), nn.Linear(32, 29)).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-2)
    steps = 0
    for _ in range(2):
        for x, y in loader:
            logits = model(x.to(device))
            loss = nn.functional.cross_entropy(logits.flatten(0, 1), y.to(device).flatten())
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
            steps += 1
        print(f"loss {loss.item():.6f}")
    print(f"loss {steps}")
    print(f"loss {distributed}")


if __name__ == "__main__":
    main()
