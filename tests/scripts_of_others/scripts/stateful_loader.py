"""Saves where its loader stands, and goes on from there with another one."""


import torch
from torch import nn
from torch.utils.data import TensorDataset
from torchdata.stateful_dataloader import StatefulDataLoader

torch.manual_seed(0)
data = TensorDataset(torch.randn(16, 3), torch.randn(16, 1))
model = nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)


def make() -> StatefulDataLoader[tuple[torch.Tensor, torch.Tensor]]:
    return StatefulDataLoader(data, batch_size=4, shuffle=True)


def step(x, y):
    loss = nn.functional.mse_loss(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


first, second = make(), make()
batches = iter(first)
step(*next(batches))
state = first.state_dict()
expected = [x for x, _ in batches]
second.load_state_dict(state)
came = []
for x, y in second:
    came.append(x)
    print(f"loss {step(x, y):.6f}")
assert all(map(torch.equal, came, expected)) and len(came) == len(expected) == 3
for x, y in second:
    print(f"loss {step(x, y):.6f}")
