"""Reads rows of a database that each data worker opens for itself, in a trainer class."""


import os
import sqlite3
import tempfile

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Rows(Dataset):
    def __init__(self, path):
        self.path, self.connection = path, None
        with sqlite3.connect(path) as connection:
            (self.count,) = connection.execute("select count(*) from points").fetchone()

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        if self.connection is None:
            self.connection = sqlite3.connect(self.path)
        query = "select a, b, y from points where rowid = ?"
        a, b, y = self.connection.execute(query, (index + 1,)).fetchone()
        return torch.tensor([a, b]), torch.tensor([y])


def connect_anew(worker_id):
    torch.utils.data.get_worker_info().dataset.connection = None


class Trainer:
    def __init__(self, path):
        self.loader = DataLoader(
            Rows(path), 4, shuffle=True, num_workers=1, worker_init_fn=connect_anew
        )
        self.model = nn.Linear(2, 1)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.05)

    def fit(self, epochs):
        for _ in range(epochs):
            yield sum(map(self.step, self.loader)) / len(self.loader)

    def step(self, batch):
        x, y = batch
        loss = nn.functional.mse_loss(self.model(x), y)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()


if __name__ == "__main__":
    torch.manual_seed(0)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "points.db")
        with sqlite3.connect(path) as connection:
            connection.execute("create table points (a real, b real, y real)")
            points = [(i / 16, 1 - i / 16, i / 8) for i in range(16)]
            connection.executemany("insert into points values (?, ?, ?)", points)
        for loss in Trainer(path).fit(2):
            print(f"loss {loss:.6f}")
