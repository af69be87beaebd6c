"""Records as columns, shape (C, N), which all arithmetic works on, live and at the end.

A row of steps is one step of the job, of all its ranks together: they wait for each other, so
the job's step time is the longest of theirs.
"""

from __future__ import annotations

from dataclasses import MISSING, fields
from operator import attrgetter
from typing import TYPE_CHECKING

import numpy as np

from smtc_lab.metrics.records.across_ranks import ACROSS, TOGETHER, RankFold, parts_of_rank
from smtc_lab.metrics.records.cluster_time import dilation_of_job, in_cluster_time
from smtc_lab.metrics.records.records import StepRecord

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from smtc_lab.metrics.records.records import RunRecords, SystemSample

STEP_COLUMNS = tuple(name for name in ACROSS if name != "device")
"""Columns of a step of the job: the fields of a ``StepRecord``, made of all ranks as declared
there; its begin on the first rank, in seconds since the epoch; step time, a mean over ranks;
samples of the first one; the least wait of a rank, in seconds, and the place of that rank among
them, from 0. NaN: not known; ``synchronized`` is 1 or 0.
"""

COMMUNICATION_FIELDS = tuple(
    field.name for field in fields(StepRecord) if field.default is not MISSING
)
"""Fields of a ``StepRecord`` that tell of communication; records from before have none."""

SYSTEM_COLUMNS = (
    "time_s",
    "interval_s",
    "cpu_used_s",
    "cpu_quota_cores",
    "memory_bytes",
    "network_received_bytes",
    "network_sent_bytes",
    "gpu_utilization_fraction",
    "cpu_asked_s",
)
"""Columns of an instance's system samples, as ``SystemSample`` has them. NaN: not known."""

STEP = {name: place for place, name in enumerate(STEP_COLUMNS)}
"""Place of each column of a step."""

SYSTEM = {name: place for place, name in enumerate(SYSTEM_COLUMNS)}
"""Place of each column of a system sample."""

_FIELDS = tuple(field.name for field in fields(StepRecord))
_FIELDS_OF = attrgetter(*_FIELDS)


def step_columns(ranks: Iterable[Sequence[StepRecord]]) -> NDArray[np.float64]:
    """Return the steps that every rank has recorded, as recorded, shape (C, S), in order.

    Args:
        ranks: The records of each rank. A rank without any is left out.
    """
    by_rank = [{record.step: record for record in records} for records in ranks if records]
    common = sorted(set[int].intersection(*map(set, by_rank))) if by_rank else []
    if not common:
        return np.empty((len(STEP_COLUMNS), 0))
    job = RankFold(STEP_COLUMNS)
    for first in range(0, len(by_rank), TOGETHER):
        group = RankFold(STEP_COLUMNS)
        for records in by_rank[first : first + TOGETHER]:
            values = np.array([_FIELDS_OF(records[step]) for step in common], dtype=np.float64)
            fields = dict(zip(_FIELDS, values.T, strict=True))
            group.add(parts_of_rank(STEP_COLUMNS, fields), 1)
        job.add(group.parts, group.num_ranks)
    return job.columns()


def steps_of(run: RunRecords) -> NDArray[np.float64]:
    """Return the steps that every rank of a run has recorded, in cluster time, shape (C, S)."""
    columns = step_columns(run.steps.values())
    return in_cluster_time(columns, STEP_COLUMNS, dilation=dilation_of_job(run.job))


def system_columns(samples: Iterable[SystemSample]) -> NDArray[np.float64]:
    """Return the samples of an instance, shape (9, N), in order."""
    rows = [[getattr(sample, name) for name in SYSTEM_COLUMNS] for sample in samples]
    return np.array(rows, dtype=np.float64).reshape(-1, len(SYSTEM_COLUMNS)).T
