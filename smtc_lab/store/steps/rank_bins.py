"""Steps of each rank by itself, in bins."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from smtc_lab.metrics.communication.ranks import RANK_MEANS
from smtc_lab.store.query import numbers, query

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from pathlib import Path

    from numpy.typing import NDArray


class BinsOfRanks(NamedTuple):
    """What is told of R ranks in B bins of steps, values as in ``RANK_MEANS``."""

    mean: NDArray[np.float64]
    """Means of what is known, shape (4, R, B); NaN: nothing is."""

    known: NDArray[np.float64]
    """Steps of which it is known, shape (4, R, B)."""

    def total(self) -> BinsOfRanks:
        """Return all bins as one."""
        known = self.known.sum(axis=2, keepdims=True)
        sums = np.where(self.known > 0, self.mean * self.known, 0.0)
        with np.errstate(invalid="ignore"):
            mean = sums.sum(axis=2, keepdims=True) / known
        return BinsOfRanks(mean, known)

    def part(self, begin: int, end: int | None = None) -> BinsOfRanks:
        """Return some bins."""
        return BinsOfRanks(self.mean[:, :, begin:end], self.known[:, :, begin:end])

    def with_more(self, more: BinsOfRanks) -> BinsOfRanks:
        """Return these bins, and others behind them."""
        return BinsOfRanks(
            np.concatenate([self.mean, more.mean], axis=2),
            np.concatenate([self.known, more.known], axis=2),
        )


def no_bins(num_ranks: int, num_bins: int = 0) -> BinsOfRanks:
    """Return bins of which nothing is known."""
    shape = (len(RANK_MEANS), num_ranks, num_bins)
    return BinsOfRanks(np.full(shape, np.nan), np.zeros(shape))


def rank_bins(
    paths: Sequence[Path], first: int, end: int, width: int, *, there: Collection[str]
) -> BinsOfRanks:
    """Return some steps of each rank.

    Args:
        paths: Record files of R ranks.
        first: Number of the first step, from 0.
        end: Number of the step behind the last one.
        width: Steps of each bin, at least 1; the last one may hold fewer.
        there: Columns of the steps in every file; the others are unknown.

    Raises:
        StoreError: A file is damaged or cannot be read.
    """
    selected = ", ".join(
        f"avg({name}), count({name})" if name in there else "NULL, 0" for name in RANK_MEANS
    )
    sql = (
        f"SELECT {selected} FROM step_record WHERE rowid > ? AND rowid <= ?"  # noqa: S608  our own names
        " GROUP BY (rowid - 1 - ?) / ?"
    )
    bins = no_bins(len(paths), -(-(end - first) // width))
    for place, path in enumerate(paths):
        rows = query([path], sql, (first, end, first, width))
        found = numbers(rows, 2 * len(RANK_MEANS), [path])
        bins.mean[:, place, : found.shape[1]] = found[0::2]
        bins.known[:, place, : found.shape[1]] = found[1::2]
    return bins
