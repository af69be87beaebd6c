"""Follows what replicas of a pipeline average once all of a batch is computed."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import torch
import torch.distributed as dist

from smtc_lab.metrics.records.records import ALL_REDUCE
from smtc_lab.parallel.link.exchange import FollowedBucket

if TYPE_CHECKING:
    from collections.abc import Callable

    from smtc_lab.parallel.link.fsdp import FollowedShards

_MODEL = -1
"""Tells it from parts of sharded models, which count from 0."""


class FollowedAverages:
    """Sums buckets of gradients over replicas, and holds them back where a network is declared.

    Its rank waits for each of them. Before each, four bytes go round in the trainer's own
    thread, which tell when all replicas are there.

    Args:
        shards: What else this trainer exchanges.
        backward_s: Returns when the first backward of the batch began.
    """

    def __init__(self, shards: FollowedShards, backward_s: Callable[[], float]) -> None:
        self._shards, self._backward_s = shards, backward_s
        self._token = torch.zeros(1)

    def __call__(self, values: torch.Tensor, group: Any) -> None:  # noqa: ANN401  a process group
        """Sum values over the ranks of a group, in place."""
        wire = self._shards.wire(group)
        ready_s = time.perf_counter()
        dist.all_reduce(self._token, group=wire.token_group)
        here_s = time.perf_counter()
        dist.all_reduce(values, group=group)
        bucket = FollowedBucket(
            model=_MODEL,
            num_bytes=values.nbytes,
            is_last=False,
            backward_s=self._backward_s(),
            ready_s=ready_s,
            here_s=here_s,
            collective=ALL_REDUCE,
            ranks=wire.ranks,
            blocked_s=ready_s,
        )
        self._shards.exchange.passed(bucket, wire)
