"""Random numbers that depend on the sample's place in the run, not on who prepares it."""

from __future__ import annotations

import hashlib
import random
import struct
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np
import torch

if TYPE_CHECKING:
    from collections.abc import Iterator

_PLACE = struct.Struct("<QQQ")
_SEEDS = struct.Struct("<QQI")
_MASK = 2**64 - 1
_MOST_TORCH = 2**63 - 1
"""What a tensor can hold of ``torch.initial_seed()``; the CPU's generator takes less of it."""


def sample_seeds(seed: int, epoch: int, position: int) -> tuple[int, int, int]:
    """Return the seeds of ``random``, torch and numpy for one sample.

    The same on every machine and in every version. Three different numbers, because
    ``random`` and numpy use one generator and would otherwise give equal numbers.

    Args:
        seed: Seed of the run; taken modulo 2**64.
        epoch: Number of the pass over the loader, from 0.
        position: Place of the sample in the epoch, from 0.

    Returns:
        64, 64 and 32 bits: the first bytes of BLAKE2b of the three arguments.
    """
    place = _PLACE.pack(seed & _MASK, epoch & _MASK, position & _MASK)
    return _SEEDS.unpack(hashlib.blake2b(place, digest_size=_SEEDS.size).digest())


def seed_sample(seed: int, epoch: int, position: int) -> None:
    """Seed ``random``, torch's CPU generator and numpy's global one for one sample.

    Costs about 10 µs. Generators of the dataset's own and those of accelerators stay as they
    are.
    """
    for_random, for_torch, for_numpy = sample_seeds(seed, epoch, position)
    random.seed(for_random)
    # torch.manual_seed would also seed the trainer's accelerators.
    torch.default_generator.manual_seed(for_torch & _MOST_TORCH)
    np.random.seed(for_numpy)  # noqa: NPY002  transforms use the global generator


def worker_seed(seed: int, epoch: int, number: int) -> int:
    """Return what a data worker is told of its seed; as in torch, neighbours' are consecutive.

    Args:
        seed: Seed of the run and rank.
        epoch: Number of the pass over the loader; any, where the data worker outlives it.
        number: Of the data worker, from 0.
    """
    return (sample_seeds(seed, epoch, _MASK)[1] >> 1) + number


def seed_worker(seed: int, epoch: int, number: int, *, for_torch: int) -> None:
    """Seed ``random``, torch and numpy before ``worker_init_fn``.

    Args:
        seed: Seed of the run and rank.
        epoch: Number of the pass over the loader.
        number: What else decides the numbers.
        for_torch: What ``torch.initial_seed()`` says afterwards: the data worker's own seed.
    """
    seed_sample(seed, epoch, number)
    torch.default_generator.manual_seed(for_torch)


def stream_seed(seed: int, rank: int) -> int:
    """Return the seed of one trainer rank, so that ranks do not draw the same transforms.

    Rank 0 keeps the job's seed: a job of one rank does not depend on this function.
    """
    if rank == 0:
        return seed & _MASK
    return sample_seeds(seed, _MASK, rank)[0]


@contextmanager
def preserved_random_state() -> Iterator[None]:
    """Give ``random``, torch's CPU generator and numpy back as they were found."""
    python_state = random.getstate()
    torch_state = torch.default_generator.get_state()
    numpy_state = np.random.get_state(legacy=False)  # noqa: NPY002  as in seed_sample
    try:
        yield
    finally:
        random.setstate(python_state)
        torch.default_generator.set_state(torch_state)
        np.random.set_state(numpy_state)  # noqa: NPY002  as in seed_sample
