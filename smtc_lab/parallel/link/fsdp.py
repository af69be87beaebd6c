"""Follows what FSDP2 exchanges, also that of an unmodified script.

Its all-gathers of parameters, its reduce-scatters of gradients, and the all-reduce between
replicas of shards (HSDP) go on as without it; a rank waits for them where they end, or where
the declared network would have brought them.
"""

from __future__ import annotations

import functools
import itertools
import math
import sys
import time
import weakref
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import torch
import torch.distributed as dist

from smtc_lab.metrics.records.records import (
    ALL_REDUCE,
    BACKWARD_GATHER,
    FORWARD_GATHER,
    REDUCE_SCATTER,
)
from smtc_lab.parallel.link.backward import Backward, note_backward
from smtc_lab.parallel.link.device import pretended_s
from smtc_lab.parallel.link.exchange import FollowedBucket, FollowedWire
from smtc_lab.parallel.link.parts import mesh_of_part, replicas_of_part

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from smtc_lab.parallel.link.device import DeviceTime
    from smtc_lab.parallel.link.exchange import FollowedExchange
    from smtc_lab.parallel.link.pace import Pace


class FollowedShards:
    """The sharded models of one trainer.

    Left alone are models on an accelerator, and parts whose parameters have several meshes.

    Args:
        exchange: Follows their collectives.
        device: Returns what an emulated device does now; None: there is none. It computes
            beside all that is exchanged until its step is over.
        pace: Returns the declared network between some ranks; None: none is declared.
    """

    def __init__(
        self,
        exchange: FollowedExchange,
        *,
        device: Callable[[], DeviceTime | None] = lambda: None,
        pace: Callable[[Sequence[int]], Pace | None] = lambda _: None,
    ) -> None:
        self.exchange = exchange
        self._device, self._pace = device, pace
        self._numbers = itertools.count()
        self._followed: weakref.WeakSet[torch.nn.Module] = weakref.WeakSet()
        self._wires: dict[Any, FollowedWire] = {}
        self._elements = 0
        self._backward_s = 0.0
        self._scattered = 0
        note_backward()

    def adopt(self, model: torch.nn.Module) -> None:
        """Follow every part of a model that ``fully_shard`` has sharded. Twice is once."""
        for part in model.modules():
            if not hasattr(part, "set_custom_all_gather") or part in self._followed:
                continue
            mesh = mesh_of_part(part)
            if mesh is None or mesh.device_type != "cpu":
                continue
            self._elements = max(self._elements, sum(one.numel() for one in part.parameters()))
            with suppress(ValueError):  # several meshes
                self._take(part)

    def _take(self, part: Any) -> None:  # noqa: ANN401  a class that FSDP2 makes
        follower = _ShardFollower(self, next(self._numbers), part)
        part.set_custom_all_gather(_AllGather(follower))
        part.set_custom_reduce_scatter(_ReduceScatter(follower))
        replicas = replicas_of_part(part)
        if replicas is not None:
            follower.replicas = replicas
            part.set_all_reduce_hook(follower.all_reduced)
        self._followed.add(part)

    def wire(self, group: Any) -> FollowedWire:  # noqa: ANN401  any process group
        """Return what a group exchanges over; all of its ranks ask at the same place."""
        if group not in self._wires:
            ranks = dist.get_process_group_ranks(group)
            token_group = dist.new_group(ranks, backend="gloo", use_local_synchronization=True)
            self._wires[group] = FollowedWire(token_group, self._pace(ranks), len(ranks))
        return self._wires[group]

    def busy_until_s(self) -> float:
        """Return until when an emulated device computes; 0: there is none."""
        device = self._device()
        return 0.0 if device is None else pretended_s(device, 1.0)

    def gradients_s(self, elements: int) -> float:
        """Return when gradients are ready: on an emulated device when that would have them.

        Args:
            elements: How many they are.
        """
        device, now_s = self._device(), time.perf_counter()
        if device is None:
            return now_s
        if self._backward_s != Backward.began_s:
            self._backward_s, self._scattered = Backward.began_s, 0
        self._scattered += elements
        return max(now_s, pretended_s(device, min(1.0, self._scattered / self._elements)))


class _ShardFollower:
    """Follows one part of a sharded model, whose parameters are gathered together."""

    def __init__(self, shards: FollowedShards, number: int, part: torch.nn.Module) -> None:
        self._shards, self._number = shards, number
        self._part = weakref.ref(part)
        self.replicas: Any = None
        """Process group of the ranks with the same shard; None: there is one replica."""
        self._all_here_s = self._scattered_s = 0.0
        self._token = torch.zeros(1)

    def follow(
        self,
        collective: str,
        whole: torch.Tensor,
        group: dist.ProcessGroup,
        start: Callable[[bool], Any],
        *,
        later: bool,
    ) -> Any:  # noqa: ANN401  any backend's
        """Do a collective and follow it; return its work where it is waited for later.

        Args:
            collective: What it is, as a ``BucketRecord`` has it.
            whole: What all ranks have of it together.
            group: The process group.
            start: Does it; called with whether it goes on by itself.
            later: Whether it is to do so.
        """
        wire, exchange = self._shards.wire(group), self._shards.exchange
        bucket = self._bucket(collective, whole, wire)
        is_scatter = collective == REDUCE_SCATTER
        now_s = time.perf_counter()
        bucket.ready_s = self._shards.gradients_s(whole.numel()) if is_scatter else now_s
        busy_until_s = self._shards.busy_until_s()
        if later:
            work = start(True)
            return _FollowedWork(exchange.follow(bucket, work, wire), bucket, busy_until_s)
        bucket.blocked_s = max(now_s, busy_until_s)
        ended: Any = torch.futures.Future()
        done = exchange.follow(bucket, ended, wire)
        try:
            start(False)
        except Exception as error:
            ended.set_exception(error)
            raise
        ended.set_result(None)
        done.wait()
        return None

    def _bucket(
        self, collective: str, values: torch.Tensor, wire: FollowedWire
    ) -> FollowedBucket:
        part = self._part()
        return FollowedBucket(
            model=self._number,
            num_bytes=values.numel() * values.element_size(),
            is_last=False,
            backward_s=Backward.began_s,
            ready_s=0.0,
            collective=collective,
            ranks=wire.ranks,
            blocked_s=math.inf,
            is_counted=part is not None and part.training,
        )

    def scattered(self) -> None:
        """Take note that shards of gradients are there, and wait for the other replicas."""
        if self.replicas is None:
            return
        self._scattered_s = time.perf_counter()
        dist.all_reduce(self._token, group=self._shards.wire(self.replicas).token_group)
        self._all_here_s = time.perf_counter()

    def all_reduced(self, values: torch.Tensor) -> None:
        """Hold shards of gradients back that replicas have averaged just now."""
        wire = self._shards.wire(self.replicas)
        bucket = self._bucket(ALL_REDUCE, values, wire)
        bucket.ready_s, bucket.here_s = self._scattered_s, self._all_here_s
        bucket.blocked_s = max(self._scattered_s, self._shards.busy_until_s())
        self._shards.exchange.passed(bucket, wire)


class _FollowedWork(dist.Work):
    """Work that is done when the values are there, and the network would have brought them."""

    def __init__(self, done: Any, bucket: FollowedBucket, busy_until_s: float) -> None:  # noqa: ANN401  torch's futures are generic
        super().__init__()
        self._done, self._bucket, self._busy_until_s = done, bucket, busy_until_s

    def wait(self, timeout: Any = None) -> bool:  # noqa: ANN401  torch's own argument
        """Wait for it; torch's own limit for collectives counts."""
        del timeout
        self._bucket.blocked_s = max(time.perf_counter(), self._busy_until_s)
        self._done.wait()
        return True


class _FollowedCollective:
    """A collective of FSDP2; memory as its default."""

    def __init__(self, follower: _ShardFollower) -> None:
        self._follower = follower

    def allocate(self, size: Any, *, dtype: torch.dtype, device: torch.device) -> torch.Tensor:  # noqa: ANN401  torch's own
        return torch.empty(*size, dtype=dtype, device=device)


class _AllGather(_FollowedCollective):
    """Gathers parameters."""

    def __call__(
        self,
        output_tensor: torch.Tensor,
        input_tensor: torch.Tensor,
        group: dist.ProcessGroup,
        async_op: bool = False,  # noqa: FBT001, FBT002  torch's own
    ) -> Any:  # noqa: ANN401  any backend's
        """Gather, and return the work where it is not done yet."""

        def start(goes_on: bool) -> Any:  # noqa: ANN401, FBT001  as above
            return dist.all_gather_into_tensor(
                output_tensor, input_tensor, group=group, async_op=goes_on
            )

        collective = BACKWARD_GATHER if Backward.depth else FORWARD_GATHER
        return self._follower.follow(collective, output_tensor, group, start, later=async_op)


class _ReduceScatter(_FollowedCollective):
    """Averages gradients, and scatters them."""

    def __call__(
        self,
        output_tensor: torch.Tensor,
        input_tensor: torch.Tensor,
        group: dist.ProcessGroup,
        op: Any,  # noqa: ANN401  torch's own
        async_op: bool = False,  # noqa: FBT001, FBT002  torch's own
    ) -> Any:  # noqa: ANN401  any backend's
        """Reduce, and return the work where it is not done yet."""

        def start(goes_on: bool) -> Any:  # noqa: ANN401, FBT001  as above
            return dist.reduce_scatter_tensor(
                output_tensor, input_tensor, op=op, group=group, async_op=goes_on
            )

        follower = self._follower
        work = follower.follow(REDUCE_SCATTER, input_tensor, group, start, later=async_op)
        if not async_op:
            follower.scattered()
        return work


def watch_fully_shard(shards: FollowedShards) -> None:
    """Follow every model that this process shards from now on; FSDP2 has been imported.

    Modules that have taken ``fully_shard`` from torch's are of torch, too, as nothing else has
    run since.
    """
    module = sys.modules["torch.distributed.fsdp"]
    plain = module.fully_shard

    @functools.wraps(plain)
    def fully_shard(given: Any, *args: Any, **options: Any) -> Any:  # noqa: ANN401  torch's own
        made = plain(given, *args, **options)
        for part in made if isinstance(made, list) else [made]:
            shards.adopt(part)
        return made

    for name, loaded in list(sys.modules.items()):
        if name.startswith("torch.distributed") and vars(loaded).get("fully_shard") is plain:
            loaded.fully_shard = fully_shard  # type: ignore[attr-defined]  # it has one
