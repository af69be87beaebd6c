"""Reads what a script logged in few numbers: in bins that SQLite makes. No spike is lost."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING

import numpy as np

from smtc_lab.metrics.records.metric_record import LONGEST_NAME
from smtc_lab.neutral_text import neutral
from smtc_lab.store.query import numbers, query
from smtc_lab.store.run_folder import RANK_RECORDS
from smtc_lab.store.steps.columns import StepColumns
from smtc_lab.store.steps.logged import RECORDS, rank_of
from smtc_lab.store.tables import MOST

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from pathlib import Path

    from numpy.typing import NDArray

    from smtc_lab.store.run_folder import RunFolder

_MOST_ROWS = 200_000
_STEP, _TIME_S, _VALUE = (
    f"CASE WHEN {name} BETWEEN {least} AND {MOST} THEN {name} END"
    for name, least in (("step", 0), ("time_s", 0), ("value", -MOST))
)


@dataclass(frozen=True, kw_only=True, eq=False)
class ThinnedMetric:
    """The values of one metric of one process, in B bins of at least one value, in order."""

    name: str
    """What the script calls it; no reader obeys it."""

    step: NDArray[np.float64]
    """Mean step of each bin, shape (B,), which never decreases."""

    time_s: NDArray[np.float64]
    """Mean time in seconds since the epoch, shape (B,), which never decreases."""

    value: NDArray[np.float64]
    """Mean of the finite values, shape (B,); NaN: there is none."""

    low: NDArray[np.float64]
    """The least of them, shape (B,)."""

    high: NDArray[np.float64]
    """The greatest of them, shape (B,)."""

    num_values: int
    """Values that were logged."""

    num_finite: int
    """Those that are finite numbers."""


def read_thinned(
    folder: RunFolder, wanted: Collection[str], *, most_bins: int
) -> list[ThinnedMetric]:
    """Return metrics of a run, each of the first rank that logged it.

    Args:
        folder: The run.
        wanted: Names of metrics.
        most_bins: Bins of each metric at most, at least 1.

    Raises:
        StoreError: A record file is damaged or cannot be read.
    """
    ranks = sorted(folder.record_files(RANK_RECORDS), key=rank_of)
    others = [path for path in folder.record_files(RECORDS) if path not in ranks]
    found: dict[str, ThinnedMetric] = {}
    for path in (*ranks, *others):
        missing = set(wanted) - found.keys()
        if not missing:
            break
        found |= {one.name: one for one in _of_file(path, missing, ranks[:1], most_bins)}
    return [found[name] for name in wanted if name in found]


def read_samples_per_step(folder: RunFolder) -> float | None:
    """Return the mean of samples that all trainers of a run take in a step; None: unknown.

    Raises:
        StoreError: A record file is damaged or cannot be read.
    """
    sql = f"SELECT avg(CASE WHEN num_samples BETWEEN 0 AND {MOST} THEN num_samples END) FROM "  # noqa: S608  our own names
    told = [query([path], sql + "step_record") for path in folder.record_files(RANK_RECORDS)]
    means = [rows[0][0] for rows in told if rows]
    return sum(means) or None if means and None not in means else None


def _of_file(
    path: Path, wanted: set[str], ranks: list[Path], most_bins: int
) -> Iterator[ThinnedMetric]:
    last = query([path], "SELECT max(rowid) FROM metric_record")
    width = -(-int((last and last[0][0]) or 0) // most_bins)
    if width < 1:
        return
    # all others are left out by SQLite, in an eighth of the time
    name, where, bins = f"substr(name, 1, {LONGEST_NAME + 1})", "", "name, bin"
    if len(wanted) == 1:
        name, where, bins = "name", "WHERE name = ?", "bin"
    rows = query(
        [path],
        f"SELECT {name}, avg(at), avg(time), avg(one), min(one), max(one), count(*), count(one)"  # noqa: S608  our own names
        f" FROM (SELECT name, (rowid - 1) / {width} AS bin, {_STEP} AS at, {_TIME_S} AS time,"
        f" {_VALUE} AS one FROM metric_record {where}) GROUP BY {bins} LIMIT {_MOST_ROWS}",
        sorted(wanted) if where else (),
    )
    for raw, group in groupby(rows, key=itemgetter(0)):
        name = neutral(raw, longest=LONGEST_NAME) if isinstance(raw, str) else ""
        if name not in wanted:
            continue
        columns = numbers([row[1:] for row in group], 7, [path])
        step, time_s, value, low, high, counts, finite = columns
        if np.isnan(step).any() or (np.diff(step) < 0).any():  # as that of an epoch goes back
            step = _steps_done(ranks, time_s)
        yield ThinnedMetric(
            name=name,
            step=_growing(step),
            time_s=_growing(time_s),
            value=value,
            low=low,
            high=high,
            num_values=int(counts.sum()),
            num_finite=int(finite.sum()),
        )


def _steps_done(ranks: list[Path], time_s: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the step that had ended last at some times, shape (B,); NaN: none had."""
    if not ranks:
        return np.full_like(time_s, np.nan)
    ended_s, steps = StepColumns(ranks).read(0, columns=("end_time_s", "step"))
    done = np.searchsorted(np.maximum.accumulate(ended_s), time_s, side="right")
    return np.append(np.nan, steps)[done]


def _growing(values: NDArray[np.float64]) -> NDArray[np.float64]:
    grown: NDArray[np.float64] = np.fmax.accumulate(np.append(0.0, values))[1:]
    return grown
