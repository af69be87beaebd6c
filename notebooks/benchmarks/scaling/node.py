"""One process of a measurement: a trainer that averages a bucket again and again.

``python -m notebooks.benchmarks.scaling.node JSON`` prints one JSON list of seconds at its end.
"""

from __future__ import annotations

import json
import os
import sys
import time
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import torch
import torch.distributed as dist

from smtc_lab.instance.link import DeclaredWire, LinkDeclaration
from smtc_lab.parallel.link.exchange import FollowedBucket, FollowedExchange
from smtc_lab.parallel.link.pace import Pace

if TYPE_CHECKING:
    from collections.abc import Callable


def main(told: dict[str, Any]) -> None:
    """Do what is told: see ``measured_seconds``."""
    torch.set_num_threads(1)
    os.environ["GLOO_SOCKET_IFNAME"] = "lo"
    rank, ranks = told["rank"], told["ranks"]
    store = dist.FileStore(told["store"], ranks)  # type: ignore[attr-defined]  # torch does not say so
    limit = timedelta(seconds=120)
    dist.init_process_group("gloo", store=store, rank=rank, world_size=ranks, timeout=limit)
    values = torch.full((int(told["num_bytes"]) // 4,), float(rank + 1))
    average = _declared(told)
    seconds = []
    for _ in range(told["repeats"]):
        values.fill_(float(rank + 1))
        dist.barrier()
        begin_s = time.perf_counter()
        average(values)
        seconds.append(time.perf_counter() - begin_s)
        wanted = (ranks + 1) / 2
        if not torch.allclose(values, torch.tensor(wanted)):
            raise ValueError(f"The average is {values[0]}, but must be {wanted}. Mend it.")
    dist.barrier()
    print(json.dumps(seconds), flush=True)  # noqa: T201  what is measured
    os._exit(0)


def _declared(told: dict[str, Any]) -> Callable[[torch.Tensor], None]:
    """Return what averages a bucket over a declared network."""
    ranks = told["ranks"]

    def ring(values: torch.Tensor) -> Any:  # noqa: ANN401  torch's futures are generic
        values.mul_(1 / ranks)
        return (
            dist.all_reduce(values, async_op=True)
            .get_future()
            .then(lambda done: done.value()[0])
        )

    wire = DeclaredWire(latency_s=told["latency_s"], bytes_per_s=told["bytes_per_s"])
    link = LinkDeclaration(inside=wire, between=None)
    exchange = FollowedExchange(Pace(link, world_size=ranks, local_world_size=ranks))
    exchange.join()

    def declared(values: torch.Tensor) -> None:
        now_s = time.perf_counter()
        num_bytes = values.numel() * 4
        bucket = FollowedBucket(
            model=0, num_bytes=num_bytes, is_last=True, backward_s=now_s, ready_s=now_s
        )
        exchange.follow(bucket, ring(values)).wait()

    return declared


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
