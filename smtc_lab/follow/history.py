"""Bins of all rows that were ever added, in memory that does not grow."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from smtc_lab.store.columns import Bins

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST_BINS = 4096
"""Bins that are kept at most; an even number."""


class History:
    """Bins of rows. When all bins are in use, two become one. NaN is unknown: left out.

    ``extensions/ui/src/live/history.ts`` does the same in the browser.
    """

    def __init__(self, num_columns: int, *, most_bins: int = MOST_BINS) -> None:
        self._low = np.full((num_columns, most_bins), np.nan)
        self._high = np.full((num_columns, most_bins), np.nan)
        self._sum = np.zeros((num_columns, most_bins))
        self._count = np.zeros((num_columns, most_bins))
        self._most = most_bins
        self.width = 1
        """Rows of each bin."""
        self.num_rows = 0
        """Rows that were added."""

    def append(self, rows: NDArray[np.float64]) -> None:
        """Add rows, shape (C, N)."""
        while self.num_rows + rows.shape[1] > self.width * self._most:
            self._halve()
        if rows.shape[1] == 0:
            return
        begin, offset = divmod(self.num_rows, self.width)
        # where each bin begins within these rows
        edges = np.arange(-offset, rows.shape[1], self.width)
        edges[0] = 0
        bins = slice(begin, begin + len(edges))
        low, high = self._low[:, bins], self._high[:, bins]
        np.fmin(low, np.fmin.reduceat(rows, edges, axis=1), out=low)
        np.fmax(high, np.fmax.reduceat(rows, edges, axis=1), out=high)
        known = ~np.isnan(rows)
        self._sum[:, bins] += np.add.reduceat(np.where(known, rows, 0.0), edges, axis=1)
        self._count[:, bins] += np.add.reduceat(known, edges, axis=1, dtype=np.float64)
        self.num_rows += rows.shape[1]

    def load(self, bins: Bins) -> None:
        """Put bins into an empty history: from row 0, each full.

        Raises:
            ValueError: There are more bins than this history keeps, or it has rows.
        """
        given = bins.low.shape[1]
        if given > self._most or self.num_rows > 0:
            raise ValueError(
                f"A history of {self.num_rows} rows and at most {self._most} bins was given "
                f"{given} bins. Give fewer, wider bins to a new one."
            )
        known = ~np.isnan(bins.mean)
        self._low[:, :given], self._high[:, :given] = bins.low, bins.high
        self._sum[:, :given] = np.where(known, bins.mean * bins.width, 0.0)
        self._count[:, :given] = known * float(bins.width)
        self.width = bins.width
        self.num_rows = given * bins.width

    def before(self, row: int) -> Bins:
        """Return the bins that hold the rows before a row number.

        The last one may hold rows behind it too.
        """
        end = -(-min(row, self.num_rows) // self.width)
        count = self._count[:, :end]
        mean = np.full(count.shape, np.nan)
        np.divide(self._sum[:, :end], count, out=mean, where=count > 0)
        return Bins(
            first=0,
            width=self.width,
            low=self._low[:, :end].copy(),
            high=self._high[:, :end].copy(),
            mean=mean,
        )

    def _halve(self) -> None:
        half = self._most // 2
        low, high, total, count = self._low, self._high, self._sum, self._count
        low[:, :half] = np.fmin(low[:, 0::2], low[:, 1::2])
        high[:, :half] = np.fmax(high[:, 0::2], high[:, 1::2])
        total[:, :half] = total[:, 0::2] + total[:, 1::2]
        count[:, :half] = count[:, 0::2] + count[:, 1::2]
        low[:, half:] = high[:, half:] = np.nan
        total[:, half:] = count[:, half:] = 0.0
        self.width *= 2
