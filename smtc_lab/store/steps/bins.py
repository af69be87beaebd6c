"""Rows in bins of equal width, of which no spike is lost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, kw_only=True)
class Bins:
    """Rows that follow each other, in bins of equal width. No spike is lost.

    NaN is unknown and left out; a bin of nothing else is NaN.
    """

    first: int
    """Number of the first row of the first bin."""

    width: int
    """Rows of each bin, at least 1; the last bin may hold fewer."""

    low: NDArray[np.float64]
    """Least value of each bin, shape (C, B): C columns, B bins."""

    high: NDArray[np.float64]
    """Greatest value of each bin, shape (C, B)."""

    mean: NDArray[np.float64]
    """Mean of each bin, shape (C, B)."""


@dataclass(frozen=True, kw_only=True)
class OpenBins:
    """Bins that rows are added to."""

    low: NDArray[np.float64]
    """Least value of each bin so far, shape (C, B)."""

    high: NDArray[np.float64]
    """Greatest value of each bin so far, shape (C, B)."""

    total: NDArray[np.float64]
    """Sum of what is known of each bin so far, shape (C, B)."""

    count: NDArray[np.float64]
    """Rows of each bin of which it is known, shape (C, B)."""

    @classmethod
    def empty(cls, num_columns: int, num_bins: int) -> Self:
        """Return bins without rows."""
        shape = num_columns, num_bins
        unknown = np.full(shape, np.nan)
        return cls(
            low=unknown, high=unknown.copy(), total=np.zeros(shape), count=np.zeros(shape)
        )

    def add(self, rows: NDArray[np.float64], *, at: int, width: int) -> None:
        """Add rows, shape (C, N).

        Args:
            rows: They fit into the bins.
            at: Number of the first one, from that of the first bin.
            width: Rows of each bin.
        """
        if rows.shape[1] == 0:
            return
        begin, offset = divmod(at, width)
        # where each bin begins within these rows
        edges = np.arange(-offset, rows.shape[1], width)
        edges[0] = 0
        bins = slice(begin, begin + len(edges))
        low, high = self.low[:, bins], self.high[:, bins]
        np.fmin(low, np.fmin.reduceat(rows, edges, axis=1), out=low)
        np.fmax(high, np.fmax.reduceat(rows, edges, axis=1), out=high)
        known = ~np.isnan(rows)
        self.total[:, bins] += np.add.reduceat(np.where(known, rows, 0.0), edges, axis=1)
        self.count[:, bins] += np.add.reduceat(known, edges, axis=1, dtype=np.float64)

    def before(self, end: int, *, first: int, width: int) -> Bins:
        """Return a copy of the bins before one.

        Args:
            end: Number of that bin, from 0.
            first: Number of the first row.
            width: Rows of each bin.
        """
        count = self.count[:, :end]
        mean = np.full(count.shape, np.nan)
        np.divide(self.total[:, :end], count, out=mean, where=count > 0)
        return Bins(
            first=first,
            width=width,
            low=self.low[:, :end].copy(),
            high=self.high[:, :end].copy(),
            mean=mean,
        )
