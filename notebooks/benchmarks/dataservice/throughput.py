"""How fast a peer delivers, and how much processor time that takes on either side."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

import psutil
import torch

from smtc_lab.errors import RunFailedError
from smtc_lab.machine.processes import descendants

if TYPE_CHECKING:
    from collections.abc import Iterator

    from notebooks.benchmarks.dataservice.payloads import Batch, Payload
    from notebooks.benchmarks.dataservice.peers.peer import Peer

_MIN_WARM_UP_BATCHES = 4
_MIN_BATCHES = 5


@dataclass(frozen=True, kw_only=True, slots=True)
class Throughput:
    """What the delivery of some batches took, after the warm-up."""

    peer: str
    """Name of the peer."""

    payload: str
    """Name of the payload."""

    num_batches: int
    """Batches that were delivered."""

    gb_per_s: float
    """Bytes of images and labels, in 10⁹ for each second."""

    batches_per_s: float
    """Batches for each second."""

    client_cpu_s_per_gb: float
    """Processor time of this process for 10⁹ bytes, in seconds."""

    server_cpu_s_per_gb: float
    """Processor time of all its descendants for 10⁹ bytes, in seconds."""

    client_resident_bytes: int
    """Memory of this process at the end, in bytes, with its share of the dataset."""


def measure_throughput(peer: Peer, payload: Payload, *, seconds: float) -> Throughput:
    """Return what it takes a peer to deliver batches for some seconds.

    Nothing of a batch is touched but its number, which is checked.

    Args:
        peer: Way of delivery.
        payload: What is delivered.
        seconds: Length of the measurement; the warm-up before takes half as long. Slow peers
            get the time for a few batches.

    Raises:
        RunFailedError: A batch was not the one that was due.
    """
    # More would only wait busily for the cores that the servers need.
    torch.set_num_threads(1)
    with peer.deliver(payload) as batches:
        warm = _take(batches, 0, seconds / 2, _MIN_WARM_UP_BATCHES)
        servers = descendants(os.getpid())
        began_s, client_s, server_s = time.perf_counter(), time.process_time(), _cpu_s(servers)
        taken = _take(batches, warm, seconds, _MIN_BATCHES)
        took_s = time.perf_counter() - began_s
        client_s = time.process_time() - client_s
        server_s = _cpu_s(servers) - server_s
        resident = psutil.Process().memory_info().rss
    gigabytes = taken * payload.num_bytes / 1e9
    return Throughput(
        peer=peer.name,
        payload=payload.name,
        num_batches=taken,
        gb_per_s=gigabytes / took_s,
        batches_per_s=taken / took_s,
        client_cpu_s_per_gb=client_s / gigabytes,
        server_cpu_s_per_gb=server_s / gigabytes,
        client_resident_bytes=resident,
    )


def _take(batches: Iterator[Batch], due: int, seconds: float, at_least: int) -> int:
    """Take batches for some seconds; return how many."""
    taken = 0
    end_s = time.perf_counter() + seconds
    while taken < at_least or time.perf_counter() < end_s:
        _, labels = next(batches)
        number = int(labels[0])
        if number != due + taken:
            raise RunFailedError(
                f"Batch {number} came, but batch {due + taken} was due. Mend the peer: nothing "
                "that it measures counts."
            )
        taken += 1
    return taken


def _cpu_s(pids: list[int]) -> float:
    """Return the processor time that some processes have used so far, in seconds."""
    used_s = 0.0
    for pid in pids:
        with suppress(OSError):  # it has ended meanwhile
            # Linux' clock of another process; /proc counts in ticks of 10 ms only.
            used_s += time.clock_gettime((~pid << 3) | 2)
    return used_s
