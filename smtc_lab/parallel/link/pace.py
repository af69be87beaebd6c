"""The clock of a declared network: how long a collective takes, one after the other."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

from smtc_lab.metrics.communication.collectives import ring_all_reduce_s, ring_gather_s

if TYPE_CHECKING:
    from smtc_lab.instance.link import DeclaredWire, LinkDeclaration


class Pace:
    """Says when a declared network would be done with what is sent over it.

    Args:
        link: The wires.
        world_size: Trainers of the job.
        local_world_size: Trainers of this instance.
        rings: Groups of trainers that share the network of an instance, at the same time.
    """

    def __init__(
        self,
        link: LinkDeclaration,
        *,
        world_size: int,
        local_world_size: int,
        rings: int = 1,
    ) -> None:
        self._ranks = world_size
        inside = link.inside if local_world_size > 1 else None
        between = link.between if local_world_size < world_size else None
        if between is not None and rings > 1:
            between = replace(between, bytes_per_s=between.bytes_per_s / rings)
        self._wire = _slowest([wire for wire in (inside, between) if wire is not None])
        self._free_s = 0.0

    @property
    def is_declared(self) -> bool:
        """Whether any wire between these trainers is declared."""
        return self._wire is not None

    def all_reduce_s(self, num_bytes: int) -> float:
        """Return how long so many bytes take to be averaged, in seconds."""
        if self._wire is None:
            return 0.0
        latency_s, bytes_per_s = self._wire
        return ring_all_reduce_s(
            num_bytes, ranks=self._ranks, latency_s=latency_s, bytes_per_s=bytes_per_s
        )

    def gather_s(self, num_bytes: int) -> float:
        """Return how long an all-gather or reduce-scatter of the whole takes, in seconds."""
        if self._wire is None:
            return 0.0
        latency_s, bytes_per_s = self._wire
        return ring_gather_s(
            num_bytes, ranks=self._ranks, latency_s=latency_s, bytes_per_s=bytes_per_s
        )

    def send_s(self, num_bytes: int) -> float:
        """Return how long so many bytes take from one trainer to another one, in seconds."""
        if self._wire is None:
            return 0.0
        latency_s, bytes_per_s = self._wire
        return latency_s + num_bytes / bytes_per_s

    def reserve(self, from_s: float, duration_s: float) -> float:
        """Return when something ends that may begin now, behind what is under way.

        Args:
            from_s: When every trainer has it, as ``time.perf_counter`` tells.
            duration_s: How long it takes, in seconds.
        """
        self._free_s = max(from_s, self._free_s) + duration_s
        return self._free_s


def sleep_until(end_s: float) -> None:
    """Return at a time of ``time.perf_counter``, or at once where it is over."""
    left_s = end_s - time.perf_counter()
    if left_s > 0:
        time.sleep(left_s)


def _slowest(wires: list[DeclaredWire]) -> tuple[float, float] | None:
    """Return latency and bandwidth of the slowest of a ring's wires, which all work at once."""
    if not wires:
        return None
    return max(wire.latency_s for wire in wires), min(wire.bytes_per_s for wire in wires)
