"""Costs of all ranges of a sequence of pieces, and the best ways through them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

SAME = 1 + 1e-12
"""Sums of the same numbers in another order differ by less."""


@dataclass(frozen=True, kw_only=True)
class PieceCost:
    """What one piece of a model costs."""

    name: str
    """Name of its module."""

    cost: float
    """Forward and backward of one microbatch, in any unit of time."""

    send_cost: float = 0.0
    """What crosses where the sequence is cut just before it, in the same unit."""

    static_bytes: float = 0.0
    """What is held for it all the time: parameters, gradients, optimizer."""

    activation_bytes: float = 0.0
    """What its forward keeps for its backward, for each microbatch in flight."""

    working_bytes: float = 0.0
    """What comes back from host memory while it computes, whatever is in flight."""

    received_bytes: float = 0.0
    """What a stage that begins with it holds of each microbatch in flight, beside that."""

    def held_bytes(self, in_flight: int) -> float:
        """Return what a stage of it alone holds, but what it receives."""
        return self.static_bytes + in_flight * self.activation_bytes + self.working_bytes


class Ranges:
    """Costs of all ranges of a sequence, as matrices (N + 1, N + 1): from piece, to piece."""

    def __init__(
        self, pieces: Sequence[PieceCost], stages: int, in_flight: Sequence[int]
    ) -> None:
        self.pieces, self.stages, self.in_flight = pieces, stages, in_flight
        self.send = np.array([0.0] + [one.send_cost for one in pieces[1:]] + [0.0])
        self.time = self._sums([one.cost for one in pieces]) + self.send[:, None]
        self._static = self._sums([one.static_bytes for one in pieces])
        self._activations = self._sums([one.activation_bytes for one in pieces])
        received = [one.received_bytes for one in pieces]
        self._activations = self._activations + np.array([*received, 0.0])[:, None]
        self._working = self._largest([one.working_bytes for one in pieces])
        self.ones = np.ones_like(self.time)

    def memory(self, stage: int) -> NDArray[np.float64]:
        """Return the bytes of each range, were it this stage."""
        held: NDArray[np.float64] = self._static + self.in_flight[stage] * self._activations
        return held + self._working

    def weighted(self, weight: float) -> tuple[list[NDArray[np.float64]], NDArray[np.float64]]:
        """Return what is balanced, by stage, and the cost of each cut in the same unit."""
        if not weight:
            return [self.time] * self.stages, self.send
        scale = (1 - weight) / (sum(one.cost for one in self.pieces) or 1.0)
        stages = []
        for stage in range(self.stages):
            memory = self.memory(stage)
            stages.append(scale * self.time + weight * memory / (memory[0, -1] or 1.0))
        return stages, scale * self.send

    @staticmethod
    def _sums(values: Sequence[float]) -> NDArray[np.float64]:
        until = np.concatenate([[0.0], np.cumsum(np.asarray(values, dtype=np.float64))])
        sums: NDArray[np.float64] = until[None, :] - until[:, None]
        return sums

    @staticmethod
    def _largest(values: Sequence[float]) -> NDArray[np.float64]:
        each = np.asarray(values, dtype=np.float64)
        found = np.zeros((len(each) + 1, len(each) + 1))
        for place in range(len(each)):
            found[place, place + 1 :] = np.maximum.accumulate(each[place:])
        return found


def slowest_stage(
    cost: NDArray[np.float64] | list[NDArray[np.float64]], allowed: Sequence[NDArray[np.bool_]]
) -> float:
    """Return the least cost of the costliest stage; infinity: no cut is allowed."""
    best = np.full(allowed[0].shape[0], np.inf)
    best[0] = -np.inf
    for stage, here in enumerate(allowed):
        own = cost[stage] if isinstance(cost, list) else cost
        best = np.maximum(best[:, None], np.where(here, own, np.inf)).min(axis=0)
    return float(best[-1])


def least_crossing(
    send: NDArray[np.float64], allowed: Sequence[NDArray[np.bool_]]
) -> tuple[float, list[int]]:
    """Return the least that crosses, and the first pieces of the stages."""
    best = np.full(len(send), np.inf)
    best[0] = 0.0
    froms = []
    for here in allowed:
        sums = np.where(here, (best + send)[:, None], np.inf)
        froms.append(sums.argmin(axis=0))
        best = sums.min(axis=0)
    starts: list[int] = []
    piece: Any = len(send) - 1
    for back in reversed(froms):
        piece = int(back[piece])
        starts.append(piece)
    return float(best[-1]), starts[::-1]
