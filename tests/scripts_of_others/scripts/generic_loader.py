"""Says of its loader what it yields, and derives one of its own from that."""


import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset


class PairLoader(DataLoader[tuple[Tensor, Tensor]]):
    """A loader of pairs."""


def train(loader: DataLoader[tuple[Tensor, Tensor]], model: nn.Module) -> float:
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in loader:
        loss = nn.functional.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return loss.item()


torch.manual_seed(0)
data = TensorDataset(torch.randn(16, 3), torch.randn(16, 1))
loader = PairLoader(data, batch_size=4, shuffle=True)
model = nn.Linear(3, 1)
for epoch in range(2):
    print(f"loss {train(loader, model):.6f}")
