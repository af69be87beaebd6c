"""How much a computing trainer loses while batches arrive beside it."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import torch

if TYPE_CHECKING:
    from collections.abc import Iterator

    from notebooks.benchmarks.dataservice.payloads import Batch, Payload
    from notebooks.benchmarks.dataservice.peers.peer import Peer

_SIDE = 192  # a product takes a trainer of one core some tenths of a millisecond
_PERIODS = 10


@dataclass(frozen=True, kw_only=True, slots=True)
class Interference:
    """What a computing trainer lost while batches arrived at a fixed rate."""

    peer: str
    """Name of the peer."""

    payload: str
    """Name of the payload."""

    batches_per_s: float
    """Batches that arrived for each second."""

    alone_per_s: float
    """Matrix products of the trainer for each second while nothing arrived."""

    beside_per_s: float
    """Matrix products for each second while batches arrived."""

    loss_percent: float
    """What was lost, in percent; below 0 where the machine's own drift is larger."""


def measure_interference(
    peer: Peer, payload: Payload, *, seconds: float, batches_per_s: float
) -> Interference:
    """Return what a computing trainer loses while a thread takes batches from a peer.

    Periods with and without batches take turns, so that a drift of the machine hits both.

    Args:
        peer: Way of delivery.
        payload: What arrives.
        seconds: Length of the measurement, with and without batches.
        batches_per_s: Rate of arrival, less than what the peer can deliver.
    """
    torch.set_num_threads(1)
    period_s = seconds / _PERIODS / 2
    alone = beside = arrived = 0
    with peer.deliver(payload) as batches:
        _compute(period_s)
        for _ in range(_PERIODS):
            alone += _compute(period_s)
            with _Arrivals(batches, batches_per_s) as arrivals:
                beside += _compute(period_s)
            arrived += arrivals.number
    half_s = seconds / 2
    return Interference(
        peer=peer.name,
        payload=payload.name,
        batches_per_s=arrived / half_s,
        alone_per_s=alone / half_s,
        beside_per_s=beside / half_s,
        loss_percent=(1 - beside / alone) * 100,
    )


def _compute(seconds: float) -> int:
    """Multiply matrices for some seconds, as a trainer's thread does; return how many."""
    left, right = torch.ones(_SIDE, _SIDE), torch.ones(_SIDE, _SIDE)
    product = torch.empty(_SIDE, _SIDE)
    number = 0
    end_s = time.perf_counter() + seconds
    while time.perf_counter() < end_s:
        torch.mm(left, right, out=product)
        number += 1
    return number


class _Arrivals:
    """A thread that takes batches at a fixed rate."""

    def __init__(self, batches: Iterator[Batch], batches_per_s: float) -> None:
        self._batches = batches
        self._interval_s = 1 / batches_per_s
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._take)
        self.number = 0
        """Batches that came."""

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _take(self) -> None:
        due_s = time.perf_counter()
        while not self._stop.wait(max(0.0, due_s - time.perf_counter())):
            next(self._batches)
            self.number += 1
            due_s += self._interval_s
