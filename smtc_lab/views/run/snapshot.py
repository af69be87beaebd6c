"""A run at one moment, small enough to be kept in a notebook."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NotRequired

from typing_extensions import TypedDict

from smtc_lab.follow.history import History
from smtc_lab.follow.run_follower import RunFollower
from smtc_lab.follow.stream import Stream
from smtc_lab.views.run.describer import RunDescriber

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from smtc_lab.follow.step_table import StepTable
    from smtc_lab.follow.table import LiveTable
    from smtc_lab.store.run_folder import RunFolder
    from smtc_lab.store.steps.bins import Bins
    from smtc_lab.views.run.info import RunInfo

SNAPSHOT_VERSION = 1
"""Version of the JSON of a snapshot."""

MOST_NUMBERS = 16_000
"""Numbers of all tables together: about 150 kB of JSON."""

_MOST_BINS = 400
_FEWEST_BINS = 8


class CurveInfo(TypedDict):
    """A ``Curve`` as JSON; null: not known."""

    columns: list[str]
    """Names of the columns."""

    num_rows: int
    """Rows of the table."""

    width: int
    """Rows of each bin; 1: these are the rows."""

    mean: list[list[float | None]]
    """Of each column, the mean of each bin."""

    low: NotRequired[list[list[float | None]]]
    """Least values; left out where ``width`` is 1."""

    high: NotRequired[list[list[float | None]]]
    """Greatest values; left out where ``width`` is 1."""

    last: NotRequired[list[float | None]]
    """The last row; left out by versions that did not keep it apart."""


@dataclass(frozen=True, kw_only=True)
class Curve:
    """A table in few numbers: rows as they are, or bins of equal width. No spike is lost."""

    columns: tuple[str, ...]
    """Names of the columns."""

    num_rows: int
    """Rows of the table."""

    width: int
    """Rows of each bin; 1: these are the rows."""

    low: NDArray[np.float64]
    """Least value of each bin, shape (C, B); NaN: not known."""

    high: NDArray[np.float64]
    """Greatest value of each bin, shape (C, B)."""

    mean: NDArray[np.float64]
    """Mean of each bin, shape (C, B)."""

    last: NDArray[np.float64]
    """The last row as it is, shape (C,); empty, shape (0,), where there is no row."""

    def column(self, name: str) -> NDArray[np.float64]:
        """Return the means of a column, shape (B,)."""
        values: NDArray[np.float64] = self.mean[self.columns.index(name)]
        return values

    def narrowed(self, columns: Sequence[str]) -> Curve:
        """Return some of its columns."""
        places = [self.columns.index(name) for name in columns]
        return replace(
            self,
            columns=tuple(columns),
            low=self.low[places],
            high=self.high[places],
            mean=self.mean[places],
            last=self.last[places],
        )

    def as_dict(self) -> CurveInfo:
        """Return it as JSON values with six digits; null: not known."""
        told = CurveInfo(
            columns=list(self.columns),
            num_rows=self.num_rows,
            width=self.width,
            last=_numbers(self.last),
            mean=[_numbers(row) for row in self.mean],
        )
        if self.width > 1:
            told["low"] = [_numbers(row) for row in self.low]
            told["high"] = [_numbers(row) for row in self.high]
        return told


@dataclass(frozen=True, kw_only=True)
class RunSnapshot:
    """What was known of a run."""

    info: RunInfo
    """Everything that is not a row of a table."""

    steps: Curve | None
    """The steps of the job; None: there were none."""

    hosts: dict[str, Curve]
    """What each instance used, by host; without those that told nothing."""

    metrics: dict[str, Curve] = field(default_factory=dict)
    """What its script logged, by the name of the table."""

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON values: the content of ``application/vnd.smtc-lab.run+json``."""
        curves = {f"system:{host}": curve for host, curve in self.hosts.items()} | self.metrics
        tables = {name: curve.as_dict() for name, curve in curves.items()}
        if self.steps is not None:
            tables["steps"] = self.steps.as_dict()
        return {
            "version": SNAPSHOT_VERSION,
            "info": self.info.as_dict(),
            "tables": tables,
        }


def take_snapshot(folder: RunFolder) -> RunSnapshot:
    """Return a run as it is now.

    Raises:
        StoreError: The run's folder cannot be read.
    """
    follower = RunFollower(folder, Stream(lambda _content, _buffers: None))
    follower.look()
    describer = RunDescriber(follower)
    describer.look(last=follower.state.is_terminal)
    found = {
        host: system.table for host, system in follower.hosts.items() if system.samples.num_rows
    }
    metrics = {metric.table.name: metric.table for metric in follower.metrics.shown}
    # three numbers for a bin and column, half of all for the steps
    most = MOST_NUMBERS // 2 // 3
    num_columns = sum(len(table.columns) for table in (*found.values(), *metrics.values()))
    num_bins = min(_MOST_BINS, most // max(1, num_columns))
    steps = (
        steps_curve(follower.steps, most_bins=_MOST_BINS) if follower.steps.num_rows else None
    )
    return RunSnapshot(
        info=describer.describe(),
        steps=steps,
        hosts={host: _curve_of(table, num_bins) for host, table in found.items()},
        metrics={name: _curve_of(table, num_bins) for name, table in metrics.items()},
    )


def first_look(folder: RunFolder) -> RunSnapshot:
    """Return what is known of a run without its records, at once.

    Raises:
        StoreError: The run's folder cannot be read.
    """
    follower = RunFollower(folder, Stream(lambda _content, _buffers: None))
    return RunSnapshot(info=RunDescriber(follower).describe(), steps=None, hosts={})


def curve(
    columns: Sequence[str],
    rows: NDArray[np.float64],
    *,
    most_bins: int,
    older: Bins | None = None,
) -> Curve:
    """Return rows in at most so many bins.

    Args:
        columns: Their names.
        rows: The rows, shape (C, N).
        most_bins: At least 8 are made, however small this is.
        older: Bins of the rows before these, from row 0, each full; None: there are none.
    """
    history = History(len(columns))
    if older is not None:
        history.load(older)
    history.append(rows)
    history.narrow(max(_FEWEST_BINS, most_bins))
    bins = history.before(history.num_rows)
    return Curve(
        columns=tuple(columns),
        num_rows=history.num_rows,
        width=bins.width,
        low=bins.low,
        high=bins.high,
        mean=bins.mean,
        last=rows[:, -1] if rows.shape[1] else rows[0, :0],
    )


def _curve_of(table: LiveTable, most_bins: int) -> Curve:
    """Return all rows of a table in at most so many bins."""
    table.cut()
    frame = table.snapshot()
    return curve(frame.columns, frame.rows, most_bins=most_bins, older=frame.bins)


def steps_curve(steps: StepTable, *, most_bins: int) -> Curve:
    """Return the steps of a run, of which there is one at least, in at most so many bins."""
    frame = steps.part(0, steps.num_rows, max(_FEWEST_BINS, most_bins))
    bins = frame.bins
    return Curve(
        columns=tuple(frame.columns),
        num_rows=steps.num_rows,
        width=1 if bins is None else bins.width,
        low=frame.rows if bins is None else bins.low,
        high=frame.rows if bins is None else bins.high,
        mean=frame.rows if bins is None else bins.mean,
        last=steps.rows(steps.num_rows - 1)[:, 0],
    )


def _numbers(row: NDArray[np.float64]) -> list[float | None]:
    return [float(f"{value:.6g}") if math.isfinite(value) else None for value in row]
