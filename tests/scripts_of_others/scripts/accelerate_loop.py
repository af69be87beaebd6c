"""Leaves devices, loaders and gradients to accelerate, and gathers what it evaluates."""


import torch
from accelerate import Accelerator
from accelerate.utils import set_seed
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Numbers(Dataset):
    def __init__(self, start, count):
        self.start, self.count = start, count

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        x = torch.tensor([float(self.start + index) / 32, 1.0])
        return {"x": x, "y": x.sum(0, keepdim=True)}


def main():
    set_seed(3)
    accelerator = Accelerator(cpu=True, gradient_accumulation_steps=2)
    train = DataLoader(Numbers(0, 16), batch_size=4, shuffle=True)
    valid = DataLoader(Numbers(16, 10), batch_size=4)
    model = nn.Linear(2, 1)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.05)
    model, optimizer, train, valid = accelerator.prepare(model, optimizer, train, valid)
    for epoch in range(2):
        model.train()
        for batch in train:
            with accelerator.accumulate(model):
                loss = nn.functional.mse_loss(model(batch["x"]), batch["y"])
                accelerator.backward(loss)
                optimizer.step()
                optimizer.zero_grad()
        model.eval()
        errors = []
        for batch in valid:
            with torch.no_grad():
                said = model(batch["x"])
            said, y = accelerator.gather_for_metrics((said, batch["y"]))
            errors.append((said - y).square())
        accelerator.print(f"loss {torch.cat(errors).mean().item():.6f}")


if __name__ == "__main__":
    main()
