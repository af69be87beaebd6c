"""One of several processes that time how long they take to add up gradients with gloo.

Started as ``python -m smtc_lab.runtime.measuring.all_reduce STORE RANK RANKS INTERFACE SECONDS
BYTES…``. They meet in a file, so that nothing listens for it; rank 0 prints the seconds of
every all-reduce as JSON, by its bytes.
"""

from __future__ import annotations

import json
import os
import sys
import time
from typing import TYPE_CHECKING

import torch
import torch.distributed as dist

if TYPE_CHECKING:
    from collections.abc import Sequence

_LEAST_REPEATS, _MOST_REPEATS = 5, 400


def main(arguments: Sequence[str]) -> None:
    """Time all-reduces of each size, and print what they took where this is rank 0."""
    store, rank, ranks, interface, seconds, *sizes = arguments
    os.environ["GLOO_SOCKET_IFNAME"] = interface
    torch.set_num_threads(1)
    dist.init_process_group(
        "gloo",
        init_method=f"file://{store}",
        rank=int(rank),
        world_size=int(ranks),
    )
    found = {size: _times(int(size), float(seconds)) for size in sizes}
    if rank == "0":
        sys.stdout.write(json.dumps(found))
    dist.destroy_process_group()


def _times(nbytes: int, seconds: float) -> list[float]:
    """Return what each all-reduce took; the first one, which connects, is left out."""
    values = torch.zeros(max(1, nbytes // 4))
    times: list[float] = []
    count = 2
    while len(times) < count:
        dist.barrier()
        begin_s = time.perf_counter()
        dist.all_reduce(values)
        times.append(time.perf_counter() - begin_s)
        if len(times) == 2:  # all ranks make as many as the first one says
            told = torch.tensor([seconds / times[1]])
            dist.broadcast(told, 0)
            count = 1 + int(told.clamp(_LEAST_REPEATS, _MOST_REPEATS))
    return times[1:]


if __name__ == "__main__":
    main(sys.argv[1:])
