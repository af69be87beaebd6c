"""Writes images in a folder for each class, and trains a small network on them."""


import argparse
import os
import tempfile

import numpy as np
import torch
import torch.nn.functional as F
from PIL import Image
from torch import nn
from torch.utils.data import DataLoader
from torchvision import datasets, transforms


def write_images(root):
    drawn = np.random.default_rng(0)
    for label in range(3):
        os.makedirs(os.path.join(root, f"class_{label}"))
        for number in range(8):
            pixels = drawn.integers(0, 80, (12, 12, 3), dtype=np.uint8)
            pixels[:, 4 * label : 4 * label + 4] += 150
            Image.fromarray(pixels).save(os.path.join(root, f"class_{label}", f"{number}.png"))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3)
        self.norm = nn.BatchNorm2d(4)
        self.out = nn.Linear(4 * 6 * 6, 3)

    def forward(self, x):
        return self.out(F.relu(self.norm(self.conv(x))).flatten(1))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--batch-size", type=int, default=6)
    args = parser.parse_args()
    torch.manual_seed(0)
    prepare = transforms.Compose(
        [
            transforms.CenterCrop(10),
            transforms.Resize(8),
            transforms.ToTensor(),
            transforms.Normalize((0.5, 0.5, 0.5), (0.25, 0.25, 0.25)),
        ]
    )
    with tempfile.TemporaryDirectory() as root:
        write_images(root)
        data = datasets.ImageFolder(root, prepare)
        loader = DataLoader(data, args.batch_size, shuffle=True, pin_memory=False)
        model = Net()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
        for _ in range(args.epochs):
            total = 0.0
            for images, labels in loader:
                optimizer.zero_grad()
                loss = F.cross_entropy(model(images), labels)
                loss.backward()
                optimizer.step()
                total += loss.item() * len(labels)
            print(f"loss {total / len(data):.4f}")


if __name__ == "__main__":
    main()
