"""When each stage computes which microbatch: an order of computations, played through."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from smtc_lab.metrics.pipeline.times import Kind


@dataclass(frozen=True, kw_only=True)
class StageTime:
    """What one stage takes for one microbatch, in seconds."""

    forward_s: float
    backward_s: float
    """Gradients of its inputs."""

    weight_s: float = 0.0
    """Gradients of its weights; part of the backward where a schedule does not split it."""

    send_s: float = 0.0
    """From its output to the next stage, and the gradient of it back."""


@dataclass(frozen=True, kw_only=True)
class PlannedComputation:
    """What a rank computes at one time."""

    rank: int
    stage: int
    microbatch: int
    kind: Kind
    is_split: bool
    """Whether the gradients of weights are computed apart."""

    begin_s: float = 0.0
    """Since the begin of the step."""

    end_s: float = 0.0


@dataclass(frozen=True, kw_only=True)
class SimulatedStep:
    """One step of a pipeline as its schedule would run it."""

    computations: tuple[PlannedComputation, ...]
    """By begin."""

    step_s: float
    """From the first begin to the last end."""

    busy_s: tuple[float, ...]
    """What each rank computes, by rank."""

    @property
    def bubble(self) -> float:
        """Idle time of all ranks over their busy time, as formulas of schedules give it."""
        busy_s = sum(self.busy_s)
        return (self.step_s * len(self.busy_s) - busy_s) / busy_s


def simulate(
    order: Sequence[Sequence[PlannedComputation]], times: Sequence[StageTime]
) -> SimulatedStep:
    """Return when each rank computes what, if each begins as soon as it has what it needs.

    Args:
        order: What each rank computes, in its order.
        times: What each stage takes.

    Raises:
        ValueError: The order never ends: what is needed comes later.
    """
    state = _PlayedStep(times, {one.stage: one.rank for own in order for one in own})
    waiting = [list(reversed(one)) for one in order]
    while any(waiting):
        before = sum(map(len, waiting))
        for own in waiting:
            while own and state.run(own[-1]):
                own.pop()
        if sum(map(len, waiting)) == before:
            left = next(own[-1] for own in waiting if own)
            raise ValueError(f"The schedule stands still at {left}.")
    done = sorted(state.done, key=lambda one: (one.begin_s, one.rank))
    return SimulatedStep(
        computations=tuple(done),
        step_s=max(one.end_s for one in done),
        busy_s=tuple(
            sum(one.end_s - one.begin_s for one in done if one.rank == rank)
            for rank in range(len(order))
        ),
    )


class _PlayedStep:
    """What has been computed so far, and from when its results can be used where."""

    def __init__(self, times: Sequence[StageTime], rank_of: Mapping[int, int]) -> None:
        self._times, self._rank_of = times, rank_of
        self._free_s: dict[int, float] = defaultdict(float)
        self._sent_s: dict[int, float] = defaultdict(float)
        """From when the card of each rank can send."""
        self._ends: dict[tuple[Kind, int, int], tuple[float, float]] = {}
        """When each computation is over, and when the other stage has its result."""
        self.done: list[PlannedComputation] = []

    def run(self, one: PlannedComputation) -> bool:
        """Run a computation if it has what it needs; return whether it did."""
        ready_s = self._ready_s(one)
        if ready_s is None:
            return False
        begin_s = max(ready_s, self._free_s[one.rank])
        end_s = begin_s + self._takes_s(one)
        self._free_s[one.rank] = end_s
        there_s = self._there_s(one, end_s)
        self._ends[one.kind, one.stage, one.microbatch] = (end_s, there_s)
        self.done.append(replace(one, begin_s=begin_s, end_s=end_s))
        return True

    def _ready_s(self, one: PlannedComputation) -> float | None:
        """Return from when a computation has its inputs; None: not yet known."""
        own: Kind = "backward" if one.kind == "weight" else "forward"
        needs: list[tuple[Kind, int]] = []
        if one.kind == "forward":
            if one.stage:
                needs.append(("forward", one.stage - 1))
        else:
            needs.append((own, one.stage))
            if one.kind == "backward" and one.stage + 1 < len(self._times):
                needs.append(("backward", one.stage + 1))
        ready_s = 0.0
        for kind, stage in needs:
            found = self._ends.get((kind, stage, one.microbatch))
            if found is None:
                return None
            ready_s = max(ready_s, found[stage != one.stage])
        return ready_s

    def _there_s(self, one: PlannedComputation, end_s: float) -> float:
        """Return when the stage that needs a result has it; what a card sends queues."""
        other = one.stage + (1 if one.kind == "forward" else -1)
        if one.kind == "weight" or self._rank_of.get(other, one.rank) == one.rank:
            return end_s
        send_s = self._times[min(other, one.stage)].send_s
        self._sent_s[one.rank] = max(end_s, self._sent_s[one.rank]) + send_s
        return self._sent_s[one.rank]

    def _takes_s(self, one: PlannedComputation) -> float:
        times = self._times[one.stage]
        if one.kind == "forward":
            return times.forward_s
        if one.kind == "weight":
            return times.weight_s
        return times.backward_s + (0.0 if one.is_split else times.weight_s)
