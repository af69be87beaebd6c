"""Where trainers of one machine write down when each of their buckets was ready.

A message that goes round costs each rank about a millisecond of CPU time; a number in memory
that all of them see costs nothing. A bucket is averaged only after every rank has given its
own, so that all numbers of a bucket are there when its values are.
"""

from __future__ import annotations

import mmap
import os
import secrets
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.distributed as dist

from smtc_lab.parallel.group import on_the_wire

_KEY_BYTES, _PATH_BYTES = 32, 4096
_SLOTS = 1024
"""Buckets that may be under way at once; of more the times are unknown."""


class ReadyBoard:
    """Times of ``time.perf_counter`` for each rank and bucket.

    Args:
        memory: Shared by all ranks.
        rank: Of this process.
        world_size: Ranks.
    """

    def __init__(self, memory: mmap.mmap, *, rank: int, world_size: int) -> None:
        cells: Any = np.frombuffer(memory, dtype=np.float64, offset=_KEY_BYTES)
        self._cells = cells.reshape(world_size, -1, 2)
        self._slots = self._cells.shape[1]
        self._mine = self._cells[rank]

    def write(self, number: int, ready_s: float) -> None:
        """Say when a bucket is ready here; before it is given to be averaged.

        Args:
            number: Of the bucket, counted from 1.
            ready_s: When.
        """
        slot = self._mine[number % self._slots]
        slot[1] = ready_s
        slot[0] = number  # last: from now on it can be read

    def here_s(self, number: int) -> float | None:
        """Return when a bucket was ready on every rank; None: not known.

        Args:
            number: Of a bucket that was averaged.
        """
        of_it = self._cells[:, number % self._slots]
        return float(of_it[:, 1].max()) if (of_it[:, 0] == number).all() else None

    def written_s(self, rank: int, number: int) -> float | None:
        """Return what one rank wrote of a number; None: not known.

        Args:
            rank: Which one.
            number: Of what has come from it.
        """
        found, ready_s = self._cells[rank, number % self._slots]
        return float(ready_s) if found == number else None


def shared_board(slots: int = _SLOTS) -> ReadyBoard | None:
    """Return a board that all ranks share; None: they are not on one machine. All ranks ask.

    Args:
        slots: Numbers that a rank writes before it writes over the first of them.
    """
    rank, world_size = dist.get_rank(), dist.get_world_size()
    num_bytes = _KEY_BYTES + 16 * slots * world_size
    told = torch.zeros(_KEY_BYTES + _PATH_BYTES, dtype=torch.uint8)
    made: Path | None = None
    if rank == 0:
        with suppress(OSError):
            made = _made(num_bytes)
            message = made.read_bytes()[:_KEY_BYTES] + os.fsencode(made)
            told[: len(message)] = torch.frombuffer(bytearray(message), dtype=torch.uint8)
    sent = on_the_wire(told)
    dist.broadcast(sent, 0)
    memory = _opened(bytes(sent.cpu().numpy()), num_bytes)
    is_open = on_the_wire(torch.tensor([int(memory is not None)]))
    dist.all_reduce(is_open, op=dist.ReduceOp.MIN)
    if made is not None:
        made.unlink(missing_ok=True)  # it stays mapped
    if memory is None or not int(is_open):
        return None
    return ReadyBoard(memory, rank=rank, world_size=world_size)


def _made(num_bytes: int) -> Path:
    """Make the file, with a key by which others know that theirs is the same."""
    descriptor, name = tempfile.mkstemp(prefix="smtc-ready-")
    with os.fdopen(descriptor, "wb") as file:
        file.write(secrets.token_bytes(_KEY_BYTES))
        file.truncate(num_bytes)
    return Path(name)


def _opened(told: bytes, num_bytes: int) -> mmap.mmap | None:
    """Return the file's memory; None: it is another machine's."""
    key, path = told[:_KEY_BYTES], os.fsdecode(told[_KEY_BYTES:].rstrip(b"\0"))
    if not path:
        return None
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
        with os.fdopen(descriptor, "r+b") as file:
            memory = mmap.mmap(file.fileno(), num_bytes)
    except (OSError, ValueError):
        return None
    return memory if memory[:_KEY_BYTES] == key else None
