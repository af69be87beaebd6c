"""Data instances that also reduce gradients: their reducer, and how trainers find it."""

from __future__ import annotations

import contextlib
import ipaddress
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import torch
import torch.distributed as dist

from smtc_lab.errors import HandshakeError
from smtc_lab.parallel.reduce.door import knock
from smtc_lab.parallel.reduce.reducer import Reducer
from smtc_lab.parallel.reduce.reduction import Reduction
from smtc_lab.parallel.reduce.wire import DTYPES

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable

    from smtc_lab.instance.context import InstanceContext
    from smtc_lab.runtime.instance_runtime import InstanceRuntime

REDUCER_PORT = 16401
"""Port of a data instance's reducer, on the instance's own address."""

_LONGEST_START_S = 30.0
"""Trainers wait so long for a reducer; they go on without one that comes later."""

_PAUSE_S = 0.1
_ADDRESS_BYTES = 18


def reduces_on_data(context: InstanceContext) -> bool:
    """Return whether the job's data instances are to reduce gradients."""
    layout = context.distribution
    return layout is not None and layout.reduce_on is not None and context.secret is not None


def start_reducer(context: InstanceContext) -> subprocess.Popen[str]:
    """Start the reducer of this data instance, which ends with this process."""
    assert context.secret is not None  # noqa: S101  the caller has looked
    process = subprocess.Popen(  # noqa: S603  our own module
        [sys.executable, "-m", "smtc_lab.parallel.reduce", context.address, str(REDUCER_PORT)],
        stdin=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None  # noqa: S101  it was asked for
    process.stdin.write(context.secret.hex() + "\n")
    process.stdin.flush()
    return process


class Reducers:
    """The reducers of a job, as one trainer uses them; joined when it wraps its first model."""

    def __init__(self, runtime: InstanceRuntime) -> None:
        self._runtime = runtime
        self._joined: Reduction | None = None
        self._own: Reducer | None = None

    def join(self) -> Callable[[torch.Tensor], Any]:
        """Connect to all servers that every rank reaches; return what averages a bucket.

        All ranks call it at the same place.
        """
        if self._joined is None:
            self._joined = self._connected()
        return self._joined.average

    def close(self) -> None:
        """Answer what is still asked, and hang up."""
        if self._own is not None:
            self._own.stop()
            self._own = None
        if self._joined is not None:
            self._joined.close()

    def _connected(self) -> Reduction:
        context = self._runtime.context
        assert context.secret is not None  # noqa: S101  the caller has looked
        rank, ranks = dist.get_rank(), dist.get_world_size()
        self._own = Reducer(context.address, 0, context.secret)
        self._own.start()
        addresses = [(address, REDUCER_PORT) for address in context.data_servers.values()]
        reducers = len(addresses)
        addresses += _gathered(self._own.address)
        deadline_s = time.monotonic() + _LONGEST_START_S
        connections: dict[int, socket.socket] = {}
        for server, address in enumerate(addresses):
            reached = _reached(address, context.secret, (rank, ranks), deadline_s)
            if reached is not None:
                connections[server] = reached
        _agree(connections, len(addresses))
        there = sum(server < reducers for server in connections)
        if rank == 0:
            self._runtime.event(
                "reducers",
                f"{there} of {reducers} data instances also reduce gradients, in clear as "
                "gloo's own.",
            )
        return Reduction(
            connections,
            rank=rank,
            ranks=ranks,
            reducers=reducers,
            on_event=lambda said: self._runtime.event("warning", said),
        )


def can_reduce(model: torch.nn.Module) -> bool:
    """Return whether reducers can sum the gradients of a model."""
    names = {str(each.dtype).removeprefix("torch.") for each in model.parameters()}
    return names <= set(DTYPES)


def _reached(
    address: tuple[str, int], secret: bytes, place: tuple[int, int], deadline_s: float
) -> socket.socket | None:
    """Return a connection to a server, which may not be there yet; None: it never was."""
    while True:
        with contextlib.suppress(OSError, HandshakeError):
            return knock(address, secret, rank=place[0], ranks=place[1])
        if time.monotonic() > deadline_s:
            return None
        time.sleep(_PAUSE_S)  # nothing tells when it listens


def _gathered(own: tuple[str, int]) -> list[tuple[str, int]]:
    """Return where each rank's own reducer listens; as plain numbers, nothing is unpickled."""
    packed = ipaddress.ip_address(own[0]).packed
    mine = torch.zeros(_ADDRESS_BYTES, dtype=torch.int32)
    mine[: len(packed)] = torch.tensor([*packed])
    mine[16], mine[17] = len(packed), own[1]
    gathered = [torch.zeros_like(mine) for _ in range(dist.get_world_size())]
    dist.all_gather(gathered, mine)
    rows = [row.tolist() for row in gathered]
    return [(str(ipaddress.ip_address(bytes(row[: row[16]]))), row[17]) for row in rows]


def _agree(connections: dict[int, socket.socket], count: int) -> None:
    """Keep the servers that every rank has reached."""
    flags = torch.tensor([int(server in connections) for server in range(count)])
    dist.all_reduce(flags, op=dist.ReduceOp.MIN)
    for server in [each for each in connections if not flags[each]]:
        connections.pop(server).close()
