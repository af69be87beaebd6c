"""Starts its second rank itself, unless LOCAL_RANK says that somebody else has.

Lightning's `Trainer(devices=2, strategy="ddp")` works this way.
"""



import datetime
import os
import socket
import subprocess
import sys

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler

RANKS = 2


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def main():
    children = []
    if "LOCAL_RANK" not in os.environ:
        os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(free_port()), LOCAL_RANK="0")
        for rank in range(1, RANKS):
            told = {**os.environ, "LOCAL_RANK": str(rank)}
            children.append(subprocess.Popen([sys.executable, *sys.argv], env=told))
    rank = int(os.environ["LOCAL_RANK"])
    limit = datetime.timedelta(seconds=45)  # Lightning waits half an hour
    dist.init_process_group("gloo", rank=rank, world_size=RANKS, timeout=limit)
    torch.manual_seed(0)
    data = TensorDataset(torch.randn(64, 4), torch.randn(64, 1))
    loader = DataLoader(data, batch_size=4, sampler=DistributedSampler(data))
    model = DistributedDataParallel(nn.Linear(4, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for x, y in loader:
        loss = nn.functional.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if rank == 0:
            print(f"loss {loss.item():.6f}")
    total = torch.tensor(rank + 1.0)
    dist.all_reduce(total)
    if rank == 0:
        print(f"loss {total.item()}")
    dist.barrier()  # none goes while another one still talks
    del model
    dist.destroy_process_group()
    for child in children:
        child.wait()


if __name__ == "__main__":
    main()
