"""The measured part of one run whose records are in memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from smtc_lab.metrics.bill import bill_of
from smtc_lab.metrics.columns import steps_of, system_columns
from smtc_lab.metrics.measured_columns import MeasuredColumns, measured_columns
from smtc_lab.metrics.records.attempts import waited_s
from smtc_lab.metrics.records.cluster_time import dilation_of_job
from smtc_lab.metrics.records.facts import number_fact
from smtc_lab.metrics.records.interrupted import interrupted
from smtc_lab.metrics.result import evidence_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from smtc_lab.metrics.bill import Bill
    from smtc_lab.metrics.records.compiler_report import CompilerReport
    from smtc_lab.metrics.records.records import RunRecords


@dataclass(frozen=True, kw_only=True)
class MeasuredLaunch(MeasuredColumns):
    """One launch of a cluster after its warm-up. Has at least one step."""

    run: RunRecords
    """The records that it was made of."""

    def startup_s(self) -> float | None:
        """Return the time from the start of the instances to the first step, in seconds."""
        started_s = self.run.started_s
        return None if started_s is None else max(0.0, self.recorded_window_s[0] - started_s)

    def billed_s(self) -> float | None:
        """Return how long there were instances, from start to end, in seconds."""
        started_s, ended_s = self.run.started_s, self.run.ended_s
        if started_s is None or ended_s is None:
            return None
        return max(0.0, ended_s - started_s - waited_s(self.run.attempts, ended_s))

    def bill(self, *, usd_per_hour: float | None) -> Bill:
        """Return where its billed time went; ``usd_per_hour`` is of the whole cluster."""
        return bill_of(
            started_s=self.run.started_s,
            steps=self.recorded_window_s,
            ended_s=self.run.ended_s,
            usd_per_hour=usd_per_hour,
            evidence=evidence_of(self.run.job),
            interrupted=interrupted(
                self.run.attempts, self.recorded_times_s, ended_s=self.run.ended_s
            ),
            dilation=dilation_of_job(self.run.job),
        )


def measured_launch(run: RunRecords) -> MeasuredLaunch | None:
    """Return the measured part of a run, or None when no step is left to measure.

    Only steps that every rank has recorded count, and they are as in ``measured_columns``.
    """
    steps = steps_of(run)
    found = measured_columns(
        steps,
        cluster=run.job.cluster,
        samples={host: system_columns(samples) for host, samples in run.system.items()},
        num_cores=number_fact(run, "num_cores"),
        probe_steps=probe_steps(run.compiler.values()),
    )
    if found is None:
        return None
    return MeasuredLaunch(**vars(found), run=run)


def probe_steps(reports: Iterable[CompilerReport]) -> int:
    """Return the steps at the begin in which a rank's compiler was still being chosen."""
    return max((report.probe_steps for report in reports), default=0)
