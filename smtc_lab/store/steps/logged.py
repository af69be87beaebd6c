"""Reads what a script logged of its training, out of the record files of a run."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from smtc_lab.metrics.records.logged import LoggedMetric, LoggedMetrics
from smtc_lab.metrics.records.metric_record import LONGEST_NAME, MOST_NAMES
from smtc_lab.neutral_text import neutral
from smtc_lab.store.query import damage, query
from smtc_lab.store.run_folder import RANK_RECORDS
from smtc_lab.store.steps.columns import StepColumns

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from numpy.typing import NDArray

    from smtc_lab.store.run_folder import RunFolder

RECORDS = re.compile(rf"{RANK_RECORDS.pattern}|[A-Za-z0-9-]{{1,80}}-printed\.sqlite")
"""Names of the record files that have metrics."""

_AT_ONCE = 100_000  # rows in memory as Python objects
_ROWS = f"""
    SELECT rowid, substr(name, 1, {LONGEST_NAME + 1}), step, time_s, value, substr(text, 1, 40)
    FROM metric_record WHERE rowid > ? ORDER BY rowid LIMIT ?
"""  # noqa: S608  our own names


def read_logged(folder: RunFolder) -> LoggedMetrics:
    """Return what the processes of a run logged so far.

    Raises:
        StoreError: A record file is damaged or cannot be read.
    """
    found = [one for path in folder.record_files(RECORDS) for one in _of_file(path)]
    ranks = sorted(folder.record_files(RANK_RECORDS), key=rank_of)
    if ranks and any(np.isnan(one.step).any() for one in found):
        ended_s, steps = StepColumns(ranks[:1]).read(0, columns=("end_time_s", "step"))
        for one in found:
            _fill_steps(one, np.maximum.accumulate(ended_s), steps)
    # what was printed comes last
    found.sort(key=lambda one: (one.name, one.rank is None, one.rank or 0))
    return LoggedMetrics(series=tuple(found))


def rank_of(path: Path) -> int:
    """Return the rank of a trainer's record file."""
    return int(path.stem.rpartition("-rank")[2])


def _of_file(path: Path) -> Iterator[LoggedMetric]:
    """Yield the metrics of a record file."""
    names: dict[str, int] = {}
    parts = list(_parts(path, names))
    if not parts:
        return
    which, columns = (np.concatenate(part, axis=-1) for part in zip(*parts, strict=True))
    order = np.argsort(which, kind="stable")
    edges = np.searchsorted(which[order], np.arange(len(names) + 1))
    rank = rank_of(path) if RANK_RECORDS.fullmatch(path.name) else None
    for name, place in names.items():
        step, time_s, value = columns[:, order[edges[place] : edges[place + 1]]]
        yield LoggedMetric(name=name, rank=rank, step=step, time_s=time_s, value=value)


def _parts(
    path: Path, names: dict[str, int]
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.float64]]]:
    """Yield the metric of each row, shape (N,), and step, time and value, shape (3, N).

    Args:
        path: A record file.
        names: The number of each metric by its name, which is filled in. Rows of others than
            the first 1,000 have the number behind them.
    """
    numbers: dict[Any, int] = {}
    after = 0
    while rows := query([path], _ROWS, (after, _AT_ONCE)):
        places, called, *columns, texts = zip(*rows, strict=True)
        after = places[-1]
        for raw in set(called) - numbers.keys():
            if not isinstance(raw, str):
                raise damage([path], "the name of a metric is no text")
            name = neutral(raw, longest=LONGEST_NAME)
            is_left_out = name not in names and len(names) == MOST_NAMES
            numbers[raw] = MOST_NAMES if is_left_out else names.setdefault(name, len(names))
        try:
            found = np.array(columns, dtype=np.float64)
        except (ValueError, TypeError):
            what = "it holds a text where a number of a metric belongs"
            raise damage([path], what) from None
        for place in np.flatnonzero(np.isnan(found[2])):
            with suppress(ValueError, TypeError):  # NaN where a damaged file has none
                found[2, place] = float(texts[place])
        yield np.array([numbers[raw] for raw in called]), found


def _fill_steps(
    metric: LoggedMetric, ended_s: NDArray[np.float64], steps: NDArray[np.float64]
) -> None:
    """Give values without a step that of the one which had ended last, at its time."""
    unknown = np.flatnonzero(np.isnan(metric.step))
    last = np.searchsorted(ended_s, metric.time_s[unknown], side="right") - 1
    metric.step[unknown[last >= 0]] = steps[last[last >= 0]]
