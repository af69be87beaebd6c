"""Finds the largest batch that fits, by doubling and then by bisection."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from smtc_lab.metrics.batch.batch_sizes import BatchTrial

MOST = 2**20
"""Largest batch that is tried."""

_MULTIPLE = 8
_RESOLUTION = 16
_STEP_DOWN = 8


def search_batch_sizes(
    probe: Callable[[int], BatchTrial], *, start: int
) -> tuple[BatchTrial, ...]:
    """Return every trial of a search, by batch size.

    Doubles from ``start`` until a batch does not fit, or takes an eighth until one does, then
    bisects what lies between: down to one sample below 32, to a sixteenth from there on, in
    multiples of 8, where matrix units work best. Where the dataset is at its end, and not the
    memory, nothing is bisected. Ends early when a trial is of no use.

    Args:
        probe: Tries a batch size. ``fits=None`` ends the search: it found out nothing.
        start: First batch size, at least 1.
    """
    trials: dict[int, BatchTrial] = {}

    def fits(batch_size: int) -> bool | None:
        trials[batch_size] = probe(batch_size)
        return trials[batch_size].fits

    low, high = 0, MOST + 1
    is_beyond_dataset = False
    size = start
    while (outcome := fits(size)) is not None:
        if outcome:
            low = size
        else:
            high, is_beyond_dataset = size, trials[size].is_beyond_dataset
        if low == 0 and size > 1:
            size = max(1, size // _STEP_DOWN)
        elif (high > MOST and low < MOST) or (is_beyond_dataset and 2 * low < high):
            size = min(MOST, 2 * low)
        elif is_beyond_dataset:
            break
        elif (middle := _between(low, high)) is not None:
            size = middle
        else:
            break
    return tuple(trials[size] for size in sorted(trials))


def _between(low: int, high: int) -> int | None:
    """Return the next batch size between one that fits and one that does not, or None."""
    if low == 0 or high > MOST or high - low <= max(1, low // _RESOLUTION):
        return None
    middle = (low + high) // 2
    rounded = middle // _MULTIPLE * _MULTIPLE
    return rounded if rounded > low else middle
