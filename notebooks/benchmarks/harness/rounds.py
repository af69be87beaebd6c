"""Rounds: everything once in each, in turns, and compared within it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

T = TypeVar("T")


def in_turns(names: Sequence[T], number: int) -> list[T]:
    """Return what a round measures, in its order: odd rounds go the other way round."""
    return [*names] if number % 2 == 0 else [*reversed(names)]


def paired(mine: Mapping[int, T], theirs: Mapping[int, T]) -> dict[int, tuple[T, T]]:
    """Return what each round that has both measured of both, by its number."""
    return {number: (mine[number], theirs[number]) for number in mine if number in theirs}


def ratios(mine: Mapping[int, float], theirs: Mapping[int, float]) -> dict[int, float]:
    """Return one number over the other of the same round, by its number."""
    return {number: one / other for number, (one, other) in paired(mine, theirs).items()}


def in_thread(measure: Callable[[], T]) -> T:
    """Return what is measured in a thread: a notebook's own has a loop running already."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(measure).result()
