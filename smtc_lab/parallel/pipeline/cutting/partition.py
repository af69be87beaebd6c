"""The best cut of a sequence of pieces into stages: exact, under a memory limit, with pins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from smtc_lab.errors import EntryPointError
from smtc_lab.parallel.pipeline.cutting.pins import allowed_by_pins
from smtc_lab.parallel.pipeline.cutting.ranges import (
    SAME,
    PieceCost,
    Ranges,
    least_crossing,
    slowest_stage,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

_MOST_PINS = 6


@dataclass(frozen=True, kw_only=True)
class Partition:
    """Where a sequence of pieces is cut."""

    starts: tuple[int, ...]
    """First piece of each stage."""

    costs: tuple[float, ...]
    """Time of each stage for one microbatch, with what it receives."""

    memory_bytes: tuple[float, ...]
    """What each stage holds."""

    in_flight: tuple[int, ...]
    """Microbatches whose activations each stage holds at once."""

    total_cost: float
    """All pieces on one device, for one microbatch."""

    step_cost: float
    """A step: (microbatches + stages - 1) times the slowest stage, and what crosses."""

    bound: str | None
    """The one piece that alone is the slowest stage; None: there is none."""

    bounds: tuple[tuple[int, int], ...]
    """First piece of each stage, and the piece after its last."""

    @property
    def sentence(self) -> str:
        """What bounds this partition, for people."""
        slowest, stages = max(self.costs), len(self.starts)
        share = slowest / self.total_cost if self.total_cost else 1.0
        if self.bound is not None:
            return (
                f"{self.bound} alone is {share:.0%} of the step, so no cut into {stages} "
                f"stages is more than {1 / share:.2g} times as fast as one device."
            )
        return (
            f"The slowest of {stages} stages is {share:.0%} of the step, where an even cut "
            f"would be {1 / stages:.0%}."
        )


def best_partition(  # noqa: PLR0913  options by name
    pieces: Sequence[PieceCost],
    stages: int,
    *,
    microbatches: int = 1,
    limit_bytes: float | None = None,
    in_flight: Sequence[int] | None = None,
    memory_weight: float = 0.0,
    pins: Mapping[str, int] | None = None,
    default_partition: int | None = None,
) -> Partition:
    """Return the best cut of a sequence into stages; there is no better one.

    Args:
        pieces: The sequence, N pieces in the order in which they run.
        stages: Stages, each of at least one piece.
        microbatches: Microbatches of a step.
        limit_bytes: What one stage may hold; None: there is no limit.
        in_flight: Microbatches whose activations each stage holds at once, by stage; None:
            one.
        memory_weight: 0: the slowest stage is made as fast as can be; 1: the fullest as empty
            as can be; between: both are balanced, as SageMaker's library does.
        pins: Stage of each module (and all that is inside it), by name.
        default_partition: Stage of all that is not pinned; None: where it is best.

    Raises:
        EntryPointError: There are fewer pieces than stages, no cut fits, or the pins
            contradict the order.
    """
    if len(pieces) == 0:
        raise EntryPointError(
            "The model is one module, which no stage can share with another. Put it and what "
            "follows into a container, such as torch.nn.Sequential, or train it without a "
            "pipeline."
        )
    if not 1 <= stages <= len(pieces):
        raise EntryPointError(
            f"The pipeline has {stages} stages, but the model is a sequence of {len(pieces)} "
            f"modules. Take at most {len(pieces)} stages."
        )
    if not 0 <= memory_weight <= 1:
        raise EntryPointError(
            f"memory_weight={memory_weight} is outside 0 to 1. Take 0 to balance time alone, "
            "or 1 to balance memory alone."
        )
    ranges = Ranges(pieces, stages, in_flight or [1] * stages)
    pinned = allowed_by_pins([one.name for one in pieces], stages, pins, default_partition)
    allowed = [one & np.isfinite(ranges.time) for one in pinned]
    if not np.isfinite(slowest_stage(ranges.ones, allowed)):
        raise EntryPointError(_impossible(ranges, pinned, pins or {}))
    if limit_bytes is not None:
        fits = [one & (ranges.memory(s) <= limit_bytes) for s, one in enumerate(allowed)]
        if not np.isfinite(slowest_stage(ranges.ones, fits)):
            raise EntryPointError(_too_large(ranges, allowed, limit_bytes))
        allowed = fits
    weighted, sends = ranges.weighted(memory_weight)
    starts = _least_step(weighted, sends, allowed, microbatches)
    return _partition(ranges, starts, microbatches)


def _partition(ranges: Ranges, starts: Sequence[int], microbatches: int) -> Partition:
    """Return the partition that begins its stages at these pieces."""
    bounds = tuple(zip(starts, [*starts[1:], len(ranges.pieces)], strict=True))
    costs = [float(ranges.time[i, j]) for i, j in bounds]
    slowest = costs.index(max(costs))
    own = ranges.pieces[slice(*bounds[slowest])]
    largest = max(own, key=lambda one: one.cost)
    total = sum(one.cost for one in ranges.pieces)
    is_bound = largest.cost * SAME >= max(costs) > total / ranges.stages * 1.01
    return Partition(
        starts=tuple(starts),
        costs=tuple(costs),
        memory_bytes=tuple(
            float(ranges.memory(stage)[i, j]) for stage, (i, j) in enumerate(bounds)
        ),
        in_flight=tuple(ranges.in_flight),
        total_cost=total,
        step_cost=(microbatches + len(starts) - 1) * max(costs)
        + float(ranges.send[list(starts)].sum()),
        bound=largest.name if is_bound else None,
        bounds=bounds,
    )


def _least_step(
    cost: list[NDArray[np.float64]],
    send: NDArray[np.float64],
    allowed: Sequence[NDArray[np.bool_]],
    microbatches: int,
) -> list[int]:
    """Return the first pieces of the stages of the shortest step.

    The shortest step may have a slowest stage that is a little slower than need be, where less
    crosses then. So all limits for the slowest stage that can pay are looked at, by halves.
    """
    slowest = slowest_stage(cost, allowed)
    rounds = microbatches + len(cost) - 1

    def cut(limit: float) -> tuple[float, list[int]]:
        within = [here & (own <= limit) for here, own in zip(allowed, cost, strict=True)]
        return least_crossing(send, within)

    crossing, starts = cut(slowest * SAME)
    best = rounds * slowest + crossing
    if not crossing:
        return starts
    different = {id(own): own for own in cost}.values()  # stages mostly cost the same
    found = [own[(own > slowest * SAME) & (rounds * own < best)] for own in different]
    limits = np.unique(np.concatenate(found))
    if not len(limits):
        return starts
    waiting = [(0, len(limits) - 1)]
    while waiting:
        low, high = waiting.pop()
        least, fitting = cut(limits[high])
        if rounds * _slowest_of(fitting, cost) + least < best:
            best, starts = rounds * _slowest_of(fitting, cost) + least, fitting
        if low < high and rounds * limits[low] + least < best:
            middle = (low + high) // 2
            waiting += (
                [(middle + 1, high), (low, middle)] if middle + 1 < high else [(low, middle)]
            )
    return starts


def _slowest_of(starts: Sequence[int], cost: list[NDArray[np.float64]]) -> float:
    ends = [*starts[1:], cost[0].shape[0] - 1]
    return max(float(own[i, j]) for own, i, j in zip(cost, starts, ends, strict=True))


def _impossible(
    ranges: Ranges, pinned: Sequence[NDArray[np.bool_]], pins: Mapping[str, int]
) -> str:
    """Return why there is no cut with these pins."""
    if np.isfinite(slowest_stage(ranges.ones, pinned)):
        _, starts = least_crossing(np.where(np.isfinite(ranges.send), 0.0, 1.0), pinned)
        first = next(at for at in starts if not np.isfinite(ranges.send[at]))
        before, after = (ranges.pieces[at].name for at in (first - 1, first))
        return (
            f"{before} and {after} have to be on one stage: what the one leaves for the other "
            "is not in what it returns, so it cannot be sent. Pin them to the same "
            "stage, or take fewer stages."
        )
    said = dict(pins) if len(pins) <= _MOST_PINS else f"{len(pins)} modules"
    return (
        f"With {said} pinned, some of the {ranges.stages} stages would have no module: each "
        "needs one, and they run in order. Pin fewer, or take fewer stages."
    )


def _too_large(ranges: Ranges, allowed: Sequence[NDArray[np.bool_]], limit_bytes: float) -> str:
    """Return which stage does not fit, by how many bytes, and what would."""
    stages, pieces = ranges.stages, ranges.pieces
    memory = [ranges.memory(stage) for stage in range(stages)]
    least = slowest_stage(memory, allowed)
    within = [here & (own <= least * SAME) for here, own in zip(allowed, memory, strict=True)]
    _, starts = least_crossing(np.zeros(len(pieces) + 1), within)
    ends = [*starts[1:], len(pieces)]
    held = [float(own[i, j]) for own, i, j in zip(memory, starts, ends, strict=True)]
    stage = held.index(max(held))

    def bytes_of(one: PieceCost) -> float:
        return one.held_bytes(ranges.in_flight[stage])

    largest = max(pieces[starts[stage] : ends[stage]], key=bytes_of)
    single = max(map(bytes_of, pieces))
    remedy = "Split that module, take a smaller batch, or shard the model."
    if single <= limit_bytes:
        fitting = _stages_that_fit(ranges, limit_bytes)
        remedy = f"Take at least {fitting} stages, or a smaller microbatch."
    return (
        f"No cut into {stages} stages fits {limit_bytes:,.0f} bytes: stage {stage} is "
        f"{held[stage] - limit_bytes:,.0f} bytes too large, and its largest module is "
        f"{largest.name} with {bytes_of(largest):,.0f}. {remedy}"
    )


def _stages_that_fit(ranges: Ranges, limit_bytes: float) -> int:
    """Return how many stages would fit, filling one after the other."""
    most = max(ranges.in_flight)
    count, held = 1, 0.0
    for one in ranges.pieces:
        own = one.held_bytes(most)
        if held + own > limit_bytes and held:
            count, held = count + 1, 0.0
        held += own
    return max(count, ranges.stages + 1)
