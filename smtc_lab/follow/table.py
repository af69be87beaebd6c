"""A table that grows while a browser looks at it."""

from __future__ import annotations

import threading
from array import array
from typing import TYPE_CHECKING

import numpy as np

from smtc_lab.follow.frames import Frame
from smtc_lab.follow.history import History
from smtc_lab.follow.ring import Ring

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from smtc_lab.store.steps.bins import Bins

CAPACITY = 65_536
"""Rows that are kept as they are; all rows are kept in bins."""


class LiveTable:
    """Rows as they come. ``push`` costs an append; frames are cut when somebody sends them.

    Memory is bounded, also when nobody looks. May be used by several threads.

    Args:
        name: What frames call it.
        columns: Names of its columns, at least one. The first one never decreases.
        capacity: Rows that are kept as they are.
    """

    def __init__(self, name: str, columns: Sequence[str], *, capacity: int = CAPACITY) -> None:
        self.name = name
        self.columns = tuple(columns)
        self.capacity = capacity
        self._waiting = [array("d") for _ in self.columns]
        self._kept = Ring(len(self.columns), capacity)
        self._history = History(len(self.columns))
        self._lock = threading.Lock()

    @property
    def num_rows(self) -> int:
        """Rows that were pushed so far."""
        return self._history.num_rows + len(self._waiting[0])

    def push(self, *values: float) -> None:
        """Add one row: one value for each column; NaN where it is unknown.

        Raises:
            ValueError: There are not as many values as columns.
        """
        if len(values) != len(self._waiting):
            raise ValueError(self._refusal(len(values)))
        with self._lock:
            for column, value in zip(self._waiting, values, strict=True):
                column.append(value)

    def extend(self, columns: Sequence[Sequence[float] | NDArray[np.float64]]) -> None:
        """Add rows, column after column.

        Raises:
            ValueError: There are not as many columns, or they differ in length.
        """
        blocks = [np.asarray(column, dtype=np.float64) for column in columns]
        if len(blocks) != len(self._waiting) or len({block.shape for block in blocks}) > 1:
            lengths = [block.shape for block in blocks]
            raise ValueError(f"{self._refusal(len(blocks))} Their shapes are {lengths}.")
        with self._lock:
            for column, block in zip(self._waiting, blocks, strict=True):
                column.frombytes(np.ascontiguousarray(block).view(np.uint8).data)

    def load(self, older: Bins | None, rows: NDArray[np.float64]) -> None:
        """Begin anew with many rows that are known already; what was there is dropped.

        Args:
            older: Bins of the rows before these, from row 0, each full; None: there are none.
            rows: The rows behind them, shape (C, N). The last ``capacity`` are kept.
        """
        history = History(len(self.columns))
        if older is not None:
            history.load(older)
        history.append(rows)
        kept = Ring(len(self.columns), self.capacity)
        kept.append(rows)
        with self._lock:
            self._history, self._kept = history, kept
            self._waiting = [array("d") for _ in self.columns]

    def cut(self) -> Frame | None:
        """Return the rows that were pushed since the last cut, or None: there are none."""
        with self._lock:
            first = self._history.num_rows
            rows = np.array([np.frombuffer(column) for column in self._waiting])
            if rows.shape[1] == 0:
                return None
            self._waiting = [array("d") for _ in self.columns]
            self._history.append(rows)
            self._kept.append(rows)
        return Frame(type="rows", table=self.name, columns=self.columns, first=first, rows=rows)

    def snapshot(self) -> Frame:
        """Return everything that was cut so far: the last rows, and bins of those before."""
        with self._lock:
            kept, end = self._kept.rows, self._history.num_rows
            # a bin that is cut in two would count rows twice
            skipped = (kept.shape[1] - end) % self._history.width if end > kept.shape[1] else 0
            kept = kept[:, skipped:].copy()
            first = end - kept.shape[1]
            older = self._history.before(first) if first > 0 else None
        return Frame(
            type="reset",
            table=self.name,
            columns=self.columns,
            first=first,
            rows=kept,
            bins=older,
        )

    def _refusal(self, given: int) -> str:
        return (
            f"Table {self.name!r} got {given} columns, but has {len(self.columns)}: "
            f"{', '.join(self.columns)}. Give one value for each."
        )
