"""Cluster time: what an emulated cluster would have taken, of what was timed on this machine.

Where vCPUs, devices and networks of a cluster go slower here by the time dilation D of its
emulation, their seconds are divided by D; nowhere else is that done. Moments stay those of this
machine's clock. D is 1, and nothing is changed, where nothing is emulated.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from smtc_lab.metrics.records.pipeline_records import PipelineRecords, StageRecord
    from smtc_lab.spec.job import TrainingJob

OLD_CLOCK = "seconds of an older scale model, not of the cluster"
"""What the seconds of a run are that was emulated before there was a time dilation."""

_MOMENTS = frozenset({"begin_time_s", "end_time_s"})


def dilation_of_job(job: TrainingJob) -> float:
    """Return the seconds of this machine that one second of a job's cluster took."""
    return 1.0 if job.emulation is None else job.emulation.dilation


def dilation_words(dilation: float | None) -> str:
    """Return what the seconds of an emulation are; empty: those of the clock.

    Args:
        dilation: The time dilation; None: an older version emulated, which had none.
    """
    if dilation is None:
        return OLD_CLOCK
    return "" if dilation == 1 else f"cluster time (1 s of it took {dilation:.3g} s here)"


def clock_words(emulation: Mapping[str, float | None]) -> str:
    """Return what the seconds of a comparison are, by its ``emulation``."""
    if emulation.get("cores_per_vcpu") is None:  # only this machine, or nothing slowed down
        return dilation_words(emulation.get("time_dilation") or 1.0)
    return dilation_words(emulation.get("time_dilation"))


def in_cluster_time(
    columns: NDArray[np.float64], names: Sequence[str], *, dilation: float
) -> NDArray[np.float64]:
    """Return columns of steps in cluster time.

    Args:
        columns: Shape (C, ...), as they were recorded; they are changed in place.
        names: What each column is, C of them.
        dilation: The time dilation.
    """
    if dilation != 1:
        columns[[name.endswith("_s") and name not in _MOMENTS for name in names]] /= dilation
    return columns


def pipeline_in_cluster_time(
    records: PipelineRecords | None, *, dilation: float
) -> PipelineRecords | None:
    """Return what the ranks of pipelines recorded, in cluster time since it began."""
    if records is None or dilation == 1:
        return records
    every = records.microbatches
    zero_s = min((one.begin_time_s for own in every.values() for one in own), default=0.0)

    def moment_s(time_s: float) -> float:
        return zero_s + (time_s - zero_s) / dilation

    return replace(
        records,
        stages={
            rank: [_stage(one, dilation) for one in own] for rank, own in records.stages.items()
        },
        microbatches={
            rank: [
                replace(
                    one,
                    begin_time_s=moment_s(one.begin_time_s),
                    end_time_s=moment_s(one.end_time_s),
                )
                for one in own
            ]
            for rank, own in every.items()
        },
    )


def _stage(record: StageRecord, dilation: float) -> StageRecord:
    device_s, send_s = record.device_s, record.send_s
    return replace(
        record,
        device_s=None if device_s is None else device_s / dilation,
        send_s=None if send_s is None else send_s / dilation,
    )
