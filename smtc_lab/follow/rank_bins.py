"""The steps of each trainer of a growing run, in few bins."""

from __future__ import annotations

from typing import TYPE_CHECKING

from smtc_lab.metrics.communication.ranks import RANK_MEANS
from smtc_lab.metrics.records.cluster_time import in_cluster_time
from smtc_lab.store.query import columns_there
from smtc_lab.store.steps.rank_bins import no_bins, rank_bins

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from smtc_lab.store.steps.rank_bins import BinsOfRanks

MOST_BINS = 120
"""Bins of one rank, at most; they are twice as wide once there are more."""


class RankBins:
    """The steps of ranks. Bins that are full are read once.

    What it tells depends on the number of steps alone, and not on when it looked.

    Args:
        dilation: Time dilation of the run.
    """

    def __init__(self, *, dilation: float = 1.0) -> None:
        self._dilation = dilation
        self.width = 1
        """Steps of each bin, a power of two; the last one may hold fewer."""
        self._paths: tuple[Path, ...] = ()
        self._there: frozenset[str] = frozenset()
        self._end = 0
        self._bins = no_bins(0)
        self._head: tuple[int, int, BinsOfRanks] | None = None

    @property
    def means(self) -> NDArray[np.float64]:
        """Means of each rank in each bin, shape (4, R, B), NaN where not known."""
        return self._bins.mean

    def look(self, paths: Sequence[Path], end: int) -> None:
        """Take in what is new.

        Args:
            paths: Record files of R ranks.
            end: Number of steps that all of them have recorded.

        Raises:
            StoreError: A file is damaged or cannot be read.
        """
        width = 1
        while end > width * MOST_BINS:
            width *= 2
        if tuple(paths) != self._paths or not self._there:
            self._there = columns_there(paths, "step_record") or frozenset()
        if width != self.width or tuple(paths) != self._paths:
            self._paths, self.width, self._end = tuple(paths), width, 0
            self._bins, self._head = no_bins(len(paths)), None
        full = self._end // width
        if end > self._end:
            self._bins = self._bins.part(0, full).with_more(self._read(full * width, end))
            self._end = end

    def means_from(self, first: int) -> NDArray[np.float64]:
        """Return the means of each rank over all steps from one on, shape (4, R).

        Raises:
            StoreError: A file is damaged or cannot be read.
        """
        place = -(-first // self.width)
        edge = min(place * self.width, self._end)
        bins = self._bins.part(place)
        if first < edge:
            if self._head is None or self._head[:2] != (first, edge):
                self._head = (first, edge, self._read(first, edge))
            bins = self._head[2].with_more(bins)
        means: NDArray[np.float64] = bins.total().mean[:, :, 0]
        return means

    def _read(self, first: int, end: int) -> BinsOfRanks:
        bins = rank_bins(self._paths, first, end, self.width, there=self._there)
        in_cluster_time(bins.mean, RANK_MEANS, dilation=self._dilation)
        return bins
