"""Ratios of step times within a round."""

from __future__ import annotations

from math import prod
from statistics import median
from typing import TYPE_CHECKING

from notebooks.benchmarks.harness.rounds import ratios

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from notebooks.benchmarks.compiler.one_round import Row


def step_times(rows: Iterable[Row], model: str, set_up: str) -> dict[int, float]:
    """Return what a step took in seconds, by round."""
    return {row.round: row.step_s for row in rows if (row.model, row.set_up) == (model, set_up)}


def ratios_to(rows: Sequence[Row], model: str, set_up: str, baseline: str) -> dict[int, float]:
    """Return how many times as fast as a baseline a set-up was, by round."""
    mine, theirs = (step_times(rows, model, name) for name in (set_up, baseline))
    return ratios(theirs, mine)


def ratios_to_best(
    rows: Sequence[Row], model: str, set_up: str, singles: Iterable[str]
) -> dict[int, float]:
    """Return how many times as fast as the best of some others a set-up was, by round.

    The best one is one choice for all rounds: the quickest of several noisy times of a round is
    quicker than each of them is on the average.
    """
    others = [ratios_to(rows, model, set_up, single) for single in singles]
    return min((ratios for ratios in others if ratios), key=_typical, default={})


def _typical(ratios: dict[int, float]) -> float:
    return median(ratios.values())


def geometric_means(of_models: Sequence[dict[int, float]]) -> list[float]:
    """Return the geometric mean over models of each round that has all of them."""
    if not of_models:
        return []
    shared = set.intersection(*(set(ratios) for ratios in of_models))
    return [
        prod(ratios[number] for ratios in of_models) ** (1 / len(of_models))
        for number in sorted(shared)
    ]
