"""Columns that grow at their end."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Growing:
    """Rows that are only ever added, in memory of at most twice their size."""

    def __init__(self, num_columns: int) -> None:
        self._room = np.empty((num_columns, 1024))
        self.num_rows = 0
        """Rows that were added."""

    @property
    def values(self) -> NDArray[np.float64]:
        """All rows, shape (C, N). A view: it stays as it is when rows are added."""
        return self._room[:, : self.num_rows]

    def append(self, rows: NDArray[np.float64]) -> None:
        """Add rows, shape (C, N)."""
        end = self.num_rows + rows.shape[1]
        if end > self._room.shape[1]:
            room = np.empty((self._room.shape[0], 2 * end))
            room[:, : self.num_rows] = self.values
            self._room = room
        self._room[:, self.num_rows : end] = rows
        self.num_rows = end
