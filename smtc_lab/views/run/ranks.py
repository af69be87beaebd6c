"""What a view is told of each of several trainers."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from smtc_lab.follow.rank_bins import RankBins
from smtc_lab.metrics.communication.ranks import (
    SLOW,
    own_shares,
    own_time_s,
    slowest_first,
    straggler_excess,
)
from smtc_lab.views.run.rank_info import RankInfo, RankMapInfo, RankRowInfo

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

MOST_ROWS = 64
"""Trainers that are shown step by step, at most."""

_DIGITS = 3


class RankSummarizer:
    """Sums up the trainers of a growing run, each by itself and over its steps.

    Args:
        dilation: Time dilation of the run.
    """

    def __init__(self, *, dilation: float = 1.0) -> None:
        self._bins = RankBins(dilation=dilation)
        self.latest: tuple[RankInfo, ...] = ()
        """Means of each trainer over the measured steps, by rank; empty: there is one."""
        self.map: RankMapInfo | None = None
        """What each trainer did in all steps; None: there is one, or no step."""

    def look(self, paths: Sequence[Path], *, first: int, end: int) -> None:
        """Make both anew.

        Args:
            paths: Record files of all trainers.
            first: Number of the first measured step, from 0.
            end: Number of steps that all trainers have recorded.

        Raises:
            StoreError: A file of the run is damaged.
        """
        if len(paths) < 2 or end == 0:
            return
        ordered = sorted(paths, key=lambda path: _rank(path)[1])
        self._bins.look(ordered, end)
        means = self._bins.means_from(first)
        self.latest = tuple(
            _info(path, mean) for path, mean in zip(ordered, means.T, strict=True)
        )
        own_s = own_time_s(means)
        excess = straggler_excess(own_s)
        shown = slowest_first(own_s, MOST_ROWS)
        shares = own_shares(self._bins.means)[shown]
        self.map = RankMapInfo(
            trainers=len(ordered),
            steps=end,
            width=self._bins.width,
            tells_waits=bool(np.isfinite(means[2:]).any()),
            slow_from=SLOW,
            rows=tuple(
                RankRowInfo(
                    rank=self.latest[place].rank,
                    host=self.latest[place].host,
                    excess_fraction=_known(excess[place]),
                    own_fraction=tuple(map(_known, row)),
                )
                for place, row in zip(shown, shares, strict=True)
            ),
        )


def _info(path: Path, mean: NDArray[np.float64]) -> RankInfo:
    host, rank = _rank(path)
    step_s, data_s, exposed_s, wait_s = map(float, mean)
    return RankInfo(
        rank=rank,
        host=host,
        step_time_s=step_s,
        data_wait_s=data_s,
        exposed_comm_s=None if math.isnan(exposed_s) else exposed_s,
        rank_wait_s=None if math.isnan(wait_s) else wait_s,
    )


def _rank(path: Path) -> tuple[str, int]:
    """Return the instance and the rank whose records a file holds."""
    host, _, number = path.stem.rpartition("-rank")
    return host, int(number)


def _known(value: float) -> float | None:
    return round(float(value), _DIGITS) if math.isfinite(value) else None
