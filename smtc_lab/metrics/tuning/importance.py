"""How much each hyperparameter matters to the objective, estimated from trials."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

FEWEST = 10
"""Trials with an objective below which nothing is estimated."""

_SPLITS = 3
_SHUFFLES = 20


def importances(
    columns: Sequence[NDArray[np.float64]],
    are_names: Sequence[bool],
    objective: Sequence[float],
) -> list[float | None]:
    """Return the share of the trials' order that each hyperparameter tells by itself.

    A tree of at most four leaves predicts the rank of the objective from one hyperparameter;
    what a tree gains on shuffled ranks, as chance gives it, is taken off. What only several
    hyperparameters tell together is in no share, and a search that tries good places more often
    than others makes what it has settled look less important: it is an estimate.

    Args:
        columns: Values of each hyperparameter, shape (N,); NaN: unknown.
        are_names: Whether these are places of a list, in no order.
        objective: Of the N trials, finite.

    Returns:
        For each hyperparameter 0 to 1; None: there are fewer than 10 trials, or all objectives
        are alike.
    """
    found = np.asarray(objective, dtype=np.float64)
    if len(found) < FEWEST or found.min() == found.max():
        return [None] * len(columns)
    _, ranks = np.unique(found, return_inverse=True)
    ranked = ranks.astype(np.float64)
    dice = np.random.default_rng(0)
    shuffled = [dice.permutation(ranked) for _ in range(_SHUFFLES)]
    shares: list[float | None] = []
    for column, is_name in zip(columns, are_names, strict=True):
        gained = _explained(column, ranked, is_name=is_name)
        chance = float(np.mean([_explained(column, y, is_name=is_name) for y in shuffled]))
        shares.append(max(0.0, (gained - chance) / max(1e-9, 1.0 - chance)))
    return shares


def _explained(x: NDArray[np.float64], y: NDArray[np.float64], *, is_name: bool) -> float:
    """Return the share of the variance of ``y`` that a small tree over ``x`` explains."""
    if is_name:
        names, where = np.unique(x, return_inverse=True)
        means = np.bincount(where, y, len(names)) / np.bincount(where, minlength=len(names))
        x = means[where]
    order = np.argsort(x, kind="stable")
    x, y = x[order], y[order] - y.mean()
    leaves, gained = [(0, len(y))], 0.0
    for _ in range(_SPLITS):
        gain, place, leaf = max((*_split(x, y, *leaf), leaf) for leaf in leaves)
        if gain <= 0.0:
            break
        gained += gain
        leaves.remove(leaf)
        leaves += [(leaf[0], place), (place, leaf[1])]
    return gained / float((y**2).sum())


def _split(
    x: NDArray[np.float64], y: NDArray[np.float64], low: int, high: int
) -> tuple[float, int]:
    """Return what the best split of sorted rows gains, and before which row it is."""
    places = np.arange(low + 1, high)
    places = places[x[places - 1] < x[places]]
    if not len(places):
        return 0.0, low
    sums = np.cumsum(y[low:high])
    left, whole = sums[places - low - 1], sums[-1]
    gains = (
        left**2 / (places - low)
        + (whole - left) ** 2 / (high - places)
        - whole**2 / (high - low)
    )
    best = int(gains.argmax())
    return float(gains[best]), int(places[best])
