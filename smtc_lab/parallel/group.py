"""The process group of the trainers, and the device of one of them."""

from __future__ import annotations

import os

import torch
import torch.distributed as dist

from smtc_lab.errors import EntryPointError


def trainer_device() -> torch.device:
    """Return the device of this trainer: the accelerator of its local rank, else the CPU.

    Raises:
        EntryPointError: There are fewer accelerators than trainers here.
    """
    if not torch.cuda.is_available():
        return torch.device("cpu")
    local_rank, seen = int(os.environ.get("LOCAL_RANK", "0")), torch.cuda.device_count()
    if seen == 1:  # a launcher may show each trainer its own only
        return torch.device("cuda", 0)
    if local_rank >= seen:
        raise EntryPointError(
            f"The trainer of local rank {local_rank} has no GPU: it sees {seen}. Take at most "
            f"{seen} trainers on an instance."
        )
    return torch.device("cuda", local_rank)


def join_group(device: torch.device, *, world_size: int) -> None:
    """Join the process group of the trainers, where the script has not done so.

    Args:
        device: Device of this trainer; gloo on the CPU, and nccl beside it on a GPU.
        world_size: Trainers of the job.

    Raises:
        EntryPointError: The script has joined a group of another size.
    """
    if device.type == "cuda":
        torch.cuda.set_device(device)
    if not dist.is_initialized():
        dist.init_process_group("cpu:gloo,cuda:nccl" if device.type == "cuda" else "gloo")
    joined = dist.get_world_size()
    if joined != world_size:
        raise EntryPointError(
            f"The script has joined a process group of {joined}, but the job has {world_size} "
            "trainers. Let session.prepare() join it, or join with the environment's numbers."
        )


def group_size() -> int:
    """Return how many processes belong to this one's group; 1: it has joined none."""
    is_there = dist.is_available() and dist.is_initialized()
    return dist.get_world_size() if is_there else 1


def is_joined() -> bool:
    """Whether this process belongs to a group of several."""
    return group_size() > 1


def on_the_wire(value: torch.Tensor) -> torch.Tensor:
    """Return a tensor on a device that the group can send from."""
    return value.cuda() if str(dist.get_backend()) == "nccl" else value


def gathered(number: int) -> list[int]:
    """Return a whole number of each rank, by rank; all ranks ask for it at the same place."""
    mine = on_the_wire(torch.tensor([number], dtype=torch.int64))
    found = [torch.zeros_like(mine) for _ in range(dist.get_world_size())]
    dist.all_gather(found, mine)
    return [int(one) for one in found]
