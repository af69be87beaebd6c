"""Bins of all rows that were ever added, in memory that does not grow."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from smtc_lab.store.steps.bins import OpenBins

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smtc_lab.store.steps.bins import Bins

MOST_BINS = 4096
"""Bins that are kept at most; an even number."""


class History:
    """Bins of rows. When all bins are in use, two become one. NaN is unknown: left out.

    ``extensions/ui/src/live/history.ts`` does the same in the browser.
    """

    def __init__(self, num_columns: int, *, most_bins: int = MOST_BINS) -> None:
        self._bins = OpenBins.empty(num_columns, most_bins)
        self._most = most_bins
        self.width = 1
        """Rows of each bin."""
        self.num_rows = 0
        """Rows that were added."""

    def append(self, rows: NDArray[np.float64]) -> None:
        """Add rows, shape (C, N)."""
        while self.num_rows + rows.shape[1] > self.width * self._most:
            self._halve()
        self._bins.add(rows, at=self.num_rows, width=self.width)
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
        kept = self._bins
        kept.low[:, :given], kept.high[:, :given] = bins.low, bins.high
        kept.total[:, :given] = np.where(known, bins.mean * bins.width, 0.0)
        kept.count[:, :given] = known * float(bins.width)
        self.width = bins.width
        self.num_rows = given * bins.width

    def before(self, row: int) -> Bins:
        """Return the bins that hold the rows before a row number.

        The last one may hold rows behind it too.
        """
        end = -(-min(row, self.num_rows) // self.width)
        return self._bins.before(end, first=0, width=self.width)

    def narrow(self, most_bins: int) -> None:
        """Make two bins one until the rows are in at most so many, at least 1."""
        while self.num_rows > self.width * most_bins:
            self._halve()

    def _halve(self) -> None:
        half = self._most // 2
        bins = self._bins
        low, high, total, count = bins.low, bins.high, bins.total, bins.count
        low[:, :half] = np.fmin(low[:, 0::2], low[:, 1::2])
        high[:, :half] = np.fmax(high[:, 0::2], high[:, 1::2])
        total[:, :half] = total[:, 0::2] + total[:, 1::2]
        count[:, :half] = count[:, 0::2] + count[:, 1::2]
        low[:, half:] = high[:, half:] = np.nan
        total[:, half:] = count[:, half:] = 0.0
        self.width *= 2
