"""Makes a loader for validation in a function that it calls after each epoch."""


import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Points(Dataset):
    def __init__(self, count, seed):
        generator = torch.Generator().manual_seed(seed)
        self.x = torch.randn(count, 3, generator=generator)
        self.y = self.x.sum(1, keepdim=True)

    def __len__(self):
        return len(self.x)

    def __getitem__(self, index):
        return self.x[index], self.y[index]


def evaluate(model, dataset):
    model.eval()
    loader = DataLoader(
        dataset, batch_size=4, collate_fn=lambda samples: tuple(map(torch.stack, zip(*samples)))
    )
    with torch.no_grad():
        total = sum(nn.functional.mse_loss(model(x), y).item() for x, y in loader)
    model.train()
    return total / len(loader)


def main():
    torch.manual_seed(0)
    train_set, valid_set = Points(16, 1), Points(12, 2)
    model = nn.Linear(3, 1)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    loader = DataLoader(train_set, batch_size=4, shuffle=True)
    for epoch in range(2):
        for x, y in loader:
            loss = nn.functional.mse_loss(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"loss {evaluate(model, valid_set):.6f}")


if __name__ == "__main__":
    main()
