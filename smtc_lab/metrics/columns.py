"""Records as columns, shape (C, N), which all arithmetic works on, live and at the end.

A row of steps is one step of the job, of all its ranks together: they wait for each other, so
the job's step time is the longest of theirs.
"""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING

import numpy as np

from smtc_lab.metrics.records.across_ranks import TOGETHER, RankFold, parts_of_rank
from smtc_lab.metrics.records.cluster_time import dilation_of_job, in_cluster_time

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from smtc_lab.metrics.records.records import RunRecords, StepRecord, SystemSample

STEP_COLUMNS = (
    "step",
    "begin_time_s",
    "end_time_s",
    "step_time_s",
    "rank_time_s",
    "data_wait_s",
    "device_time_s",
    "num_samples",
    "first_rank_samples",
    "synchronized",
    "exposed_comm_s",
    "hidden_comm_s",
    "rank_wait_s",
    "least_rank_wait_s",
    "waited_for_rank",
    "backward_s",
    "comm_bytes",
    "num_buckets",
    "num_syncs",
    "local_grad_norm2",
    "mean_grad_norm2",
    "gathered_bytes",
)
"""Columns of a step of the job: its number; its begin on the first rank and its end on the last
one, in seconds since the epoch; its time in seconds, the longest of all ranks; step time, data
wait and device time in seconds, means over the ranks; samples of all ranks, and of the first
one; 1 where each rank synchronized its device before it read the clock, else 0; exposed and
hidden communication, wait for slower ranks, means over the ranks, and the least wait of a rank,
in seconds, with the place of that rank among them, from 0; backward time, a mean; bytes,
buckets, averagings, squared norm of the averaged gradients and bytes of gathered parameters,
the first rank's; squared norm of own gradients, a mean. NaN: not known.
"""

COMMUNICATION_FIELDS = (
    "exposed_comm_s",
    "hidden_comm_s",
    "rank_wait_s",
    "backward_s",
    "comm_bytes",
    "num_buckets",
    "num_syncs",
    "local_grad_norm2",
    "mean_grad_norm2",
    "gathered_bytes",
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

_FIELDS = (
    "step",
    "end_time_s",
    "step_time_s",
    "data_wait_s",
    "device_time_s",
    "num_samples",
    "synchronized",
    *COMMUNICATION_FIELDS,
)
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
