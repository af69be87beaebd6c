"""Records as columns, shape (C, N), which all arithmetic works on, live and at the end.

A row of steps is one step of the job, of all its ranks together: they wait for each other, so
the job's step time is the longest of theirs.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from smtc_lab.metrics.records.records import StepRecord, SystemSample

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
)
"""Columns of a step of the job: its number; its begin on the first rank and its end on the last
one, in seconds since the epoch; its time in seconds, the longest of all ranks; step time, data
wait and device time in seconds, means over the ranks; samples of all ranks, and of the first
one; 1 where each rank synchronized its device before it read the clock, else 0; exposed and
hidden communication, wait for slower ranks, means over the ranks, and the least wait of a rank,
in seconds, with the place of that rank among them, from 0; backward time, a mean; bytes,
buckets, averagings and squared norm of the averaged gradients, the first rank's; squared norm
of own gradients, a mean. NaN: not known.
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


def step_columns(ranks: Iterable[Sequence[StepRecord]]) -> NDArray[np.float64]:
    """Return the steps that every rank has recorded, shape (C, S), in order.

    Args:
        ranks: The records of each rank. A rank without any is left out.
    """
    by_rank = [{record.step: record for record in records} for records in ranks if records]
    common = sorted(set[int].intersection(*map(set, by_rank))) if by_rank else []
    if not common:
        return np.empty((len(STEP_COLUMNS), 0))
    values = np.array(
        [[_values(records[step]) for step in common] for records in by_rank], dtype=np.float64
    )
    end_s, time_s, wait_s, device_s, samples, synchronized, *comm = np.moveaxis(values, 2, 0)
    exposed_s, hidden_s, rank_wait_s, backward_s, comm_bytes, buckets, syncs, *norms = comm
    return np.array(
        [
            common,
            (end_s - time_s).min(axis=0),
            end_s.max(axis=0),
            time_s.max(axis=0),
            _sum(time_s) / len(by_rank),
            _sum(wait_s) / len(by_rank),
            _sum(device_s) / len(by_rank),
            _sum(samples),
            samples[0],
            synchronized.min(axis=0),
            _sum(exposed_s) / len(by_rank),
            _sum(hidden_s) / len(by_rank),
            _sum(rank_wait_s) / len(by_rank),
            rank_wait_s.min(axis=0),
            np.where(np.isnan(rank_wait_s.min(axis=0)), np.nan, rank_wait_s.argmin(axis=0)),
            _sum(backward_s) / len(by_rank),
            comm_bytes[0],
            buckets[0],
            syncs[0],
            _sum(norms[0]) / len(by_rank),
            norms[1][0],
        ]
    )


def system_columns(samples: Iterable[SystemSample]) -> NDArray[np.float64]:
    """Return the samples of an instance, shape (9, N), in order."""
    rows = [[getattr(sample, name) for name in SYSTEM_COLUMNS] for sample in samples]
    return np.array(rows, dtype=np.float64).reshape(-1, len(SYSTEM_COLUMNS)).T


def _sum(by_rank: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the sum over ranks one after another, rounded as the store's SQL rounds it."""
    return functools.reduce(np.add, by_rank)


def _values(record: StepRecord) -> tuple[float | None, ...]:
    return (
        record.end_time_s,
        record.step_time_s,
        record.data_wait_s,
        record.device_time_s,
        record.num_samples,
        record.synchronized,
        *(getattr(record, name) for name in COMMUNICATION_FIELDS),
    )
