"""The measured part of one run: its steps without warm-up, and the window they span."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from smtc_lab.metrics.utilization import samples_between
from smtc_lab.metrics.warm_up import warm_up_steps

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smtc_lab.metrics.records import RunRecords, StepRecord, SystemSample


@dataclass(frozen=True, kw_only=True)
class MeasuredLaunch:
    """One launch of a cluster after its warm-up. Has at least one step."""

    run: RunRecords
    """The records that it was made of."""

    step_time_s: NDArray[np.float64]
    """Step time of the job in seconds, shape (S,): the longest of all ranks, because ranks
    wait for each other in every step."""

    warm_up_time_s: NDArray[np.float64]
    """Step time of the job in seconds in the steps that were left out at its begin."""

    steps: tuple[StepRecord, ...]
    """The measured steps of all ranks."""

    first_step_begin_s: float
    """Begin of the first step of any rank, warm-up included, in seconds since the epoch."""

    begin_s: float
    """Begin of the first measured step, in seconds since the epoch."""

    end_s: float
    """End of the last measured step, in seconds since the epoch."""

    @property
    def warm_up_steps(self) -> int:
        """Steps of the job that were left out at its begin."""
        return len(self.warm_up_time_s)

    def startup_s(self) -> float | None:
        """Return the time from the start of the instances to the first step, in seconds."""
        started_s = self.run.started_s
        return None if started_s is None else max(0.0, self.first_step_begin_s - started_s)

    def billed_s(self) -> float | None:
        """Return the time from the start to the end of the last instance, in seconds."""
        started_s, ended_s = self.run.started_s, self.run.ended_s
        return None if started_s is None or ended_s is None else max(0.0, ended_s - started_s)

    def num_samples(self) -> int | None:
        """Return the samples in the measured steps of all ranks, or None when not known."""
        known = [step.num_samples for step in self.steps if step.num_samples is not None]
        return sum(known) if len(known) == len(self.steps) else None

    def group_samples(self, instance_group_name: str) -> list[SystemSample]:
        """Return the system samples of a group's instances in the measured window."""
        return [
            sample
            for host, group in self.run.job.cluster.hosts().items()
            if group.instance_group_name == instance_group_name
            for sample in samples_between(
                self.run.system.get(host, ()), begin_s=self.begin_s, end_s=self.end_s
            )
        ]


def measured_launch(run: RunRecords) -> MeasuredLaunch | None:
    """Return the measured part of a run, or None when no step is left to measure.

    Only steps that every rank has recorded count. How many of them are warm-up is decided once
    for the job, on its own step times, and holds for every rank. The steps in which a compiler
    was still being chosen belong to it, one step at least stays.
    """
    by_rank = [{record.step: record for record in records} for records in run.steps.values()]
    by_rank = [records for records in by_rank if records]
    if not by_rank:
        return None
    common = sorted(set.intersection(*(set(records) for records in by_rank)))
    if not common:
        return None
    step_time_s = np.array(
        [max(records[step].step_time_s for records in by_rank) for step in common],
        dtype=np.float64,
    )
    # A compiler that is still being chosen is not the one to measure.
    probed = max((report.probe_steps for report in run.compiler.values()), default=0)
    begin = sum(step < probed for step in common[:-1])
    cut = begin + warm_up_steps(step_time_s[begin:])
    measured = common[cut:]
    steps = tuple(records[step] for records in by_rank for step in measured)
    return MeasuredLaunch(
        run=run,
        step_time_s=step_time_s[cut:],
        warm_up_time_s=step_time_s[:cut],
        steps=steps,
        first_step_begin_s=min(_begin_s(records[min(records)]) for records in by_rank),
        begin_s=min(_begin_s(record) for record in steps),
        end_s=max(record.end_time_s for record in steps),
    )


def _begin_s(record: StepRecord) -> float:
    return record.end_time_s - record.step_time_s
