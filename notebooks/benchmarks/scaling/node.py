"""One process of a measurement: a reducer, or a trainer that averages a bucket again and again.

``python -m notebooks.benchmarks.scaling.node JSON`` prints one JSON list of seconds at its end.
"""

from __future__ import annotations

import json
import os
import sys
import time
from contextlib import suppress
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import torch
import torch.distributed as dist

from smtc_lab.instance.link import DeclaredWire, LinkDeclaration
from smtc_lab.parallel.link.exchange import FollowedBucket, FollowedExchange
from smtc_lab.parallel.link.pace import Pace
from smtc_lab.parallel.reduce.door import knock
from smtc_lab.parallel.reduce.reducer import Reducer
from smtc_lab.parallel.reduce.reduction import Reduction

if TYPE_CHECKING:
    from collections.abc import Callable

PORT = 16401


def main(told: dict[str, Any]) -> None:
    """Do what is told: see ``measured_seconds``."""
    torch.set_num_threads(1)
    secret = bytes.fromhex(told["secret"])
    if told["role"] == "reducer":
        Reducer(told["address"], PORT, secret).serve_forever()
        return
    os.environ["GLOO_SOCKET_IFNAME"] = told["interface"]
    rank, ranks = told["rank"], told["ranks"]
    store = dist.FileStore(told["store"], ranks)  # type: ignore[attr-defined]  # torch does not say so
    limit = timedelta(seconds=120)
    dist.init_process_group("gloo", store=store, rank=rank, world_size=ranks, timeout=limit)
    values = torch.full((int(told["num_bytes"]) // 4,), float(rank + 1))
    average = _average(told, secret)
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


def _average(told: dict[str, Any], secret: bytes) -> Callable[[torch.Tensor], object]:
    """Return what averages a bucket, as told: ``ring``, ``reducers`` or ``declared``."""
    ranks = told["ranks"]
    if told["how"] == "reducers":
        reduction = _reduction(told, secret)
        return lambda values: reduction.average(values).wait()

    def ring(values: torch.Tensor) -> Any:  # noqa: ANN401  torch's futures are generic
        values.mul_(1 / ranks)
        return (
            dist.all_reduce(values, async_op=True)
            .get_future()
            .then(lambda done: done.value()[0])
        )

    if told["how"] == "ring":
        return lambda values: ring(values).wait()
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


def _reduction(told: dict[str, Any], secret: bytes) -> Reduction:
    own = Reducer(told["address"], PORT, secret)
    own.start()
    connections = {}
    for server, address in enumerate(told["servers"]):
        while server not in connections:
            with suppress(OSError):
                connections[server] = knock(
                    (address, PORT), secret, rank=told["rank"], ranks=told["ranks"]
                )
    return Reduction(
        connections, rank=told["rank"], ranks=told["ranks"], reducers=told["reducers"]
    )


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
