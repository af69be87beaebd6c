"""The last rows of a table. Adding rows costs a copy of these rows alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_FIRST_ROOM = 1024


class Ring:
    """Rows in columns, the oldest ones dropped beyond the capacity.

    ``extensions/ui/src/live/ring.ts`` does the same in the browser.
    """

    def __init__(self, num_columns: int, capacity: int) -> None:
        self._capacity = capacity
        self._memory = np.empty((num_columns, min(_FIRST_ROOM, 2 * capacity)))
        self._begin = 0
        self._end = 0

    @property
    def rows(self) -> NDArray[np.float64]:
        """What is kept, shape (C, N); later rows overwrite it."""
        return self._memory[:, self._begin : self._end]

    def append(self, rows: NDArray[np.float64]) -> None:
        """Add rows, shape (C, N)."""
        added = rows[:, -self._capacity :]
        if self._end + added.shape[1] > self._memory.shape[1]:
            self._make_room(added.shape[1])
        self._memory[:, self._end : self._end + added.shape[1]] = added
        self._end += added.shape[1]
        self._begin = max(self._begin, self._end - self._capacity)

    def _make_room(self, num_rows: int) -> None:
        kept = self.rows[:, max(0, self._end - self._begin + num_rows - self._capacity) :]
        # twice of what is there, so that rows slide to the front only once in a while
        room = min(2 * self._capacity, 2 * (kept.shape[1] + num_rows))
        memory = self._memory
        if room > memory.shape[1]:
            memory = np.empty((kept.shape[0], room))
        memory[:, : kept.shape[1]] = kept
        self._memory, self._begin, self._end = memory, 0, kept.shape[1]
