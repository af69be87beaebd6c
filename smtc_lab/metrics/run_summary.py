"""One run in a few numbers."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import numpy as np

from smtc_lab.metrics.bill import Bill, bill_of
from smtc_lab.metrics.measured_launch import measured_launch
from smtc_lab.metrics.records.interrupted import interrupted
from smtc_lab.metrics.result import evidence_of
from smtc_lab.metrics.utilization import (
    cpu_delivered_fraction,
    data_wait_fraction,
    device_utilization,
)

if TYPE_CHECKING:
    from smtc_lab.metrics.records.records import RunRecords


@dataclass(frozen=True, kw_only=True)
class RunSummary:
    """What was seen of a run so far, warm-up left out."""

    steps: int
    """Measured steps of the job."""

    warm_up_steps: int
    """Steps left out at its begin."""

    mean_step_time_s: float | None
    """Mean step time in seconds, of an emulated run in cluster time; None: no measured step."""

    data_wait_fraction: float | None
    """Share of the step time in which trainers waited for a batch; None: no measured step."""

    between_steps_s: float | None
    """Mean time from the end of a step to the begin of the next one, in seconds of this
    machine: evaluating, logging, whatever stands behind the optimizer's step. It is in no step
    time. None: no two steps, or it was interrupted."""

    device_utilization: float | None
    """Share of the step time in which the device computed; None: not known."""

    cpu_delivered_fraction: float | None
    """CPU time delivered over asked, all instances; None: no quota."""

    bill: Bill
    """Where its billed time went."""

    def as_dict(self) -> dict[str, object]:
        """Return the numbers by name."""
        return {**asdict(self), "bill": self.bill.model_dump()}


def summarize(run: RunRecords, *, usd_per_hour: float | None = None) -> RunSummary:
    """Return one run in a few numbers; it may still be growing.

    Args:
        run: Its records.
        usd_per_hour: Price of all instances; None: unknown.
    """
    launch = measured_launch(run)
    if launch is None:
        return RunSummary(
            steps=0,
            warm_up_steps=0,
            mean_step_time_s=None,
            data_wait_fraction=None,
            between_steps_s=None,
            device_utilization=None,
            cpu_delivered_fraction=None,
            bill=bill_of(
                started_s=run.started_s,
                steps=None,
                ended_s=run.ended_s,
                usd_per_hour=usd_per_hour,
                evidence=evidence_of(run.job),
                interrupted=interrupted(run.attempts, ended_s=run.ended_s),
            ),
        )
    groups = run.job.cluster.instance_groups
    samples = np.concatenate(
        [launch.group_samples(group.instance_group_name) for group in groups], axis=1
    )
    return RunSummary(
        steps=len(launch.step_time_s),
        warm_up_steps=launch.warm_up_steps,
        mean_step_time_s=float(np.mean(launch.step_time_s)),
        data_wait_fraction=data_wait_fraction(launch.steps),
        between_steps_s=(
            float(launch.gaps_s.mean())
            if len(launch.gaps_s) and len(run.attempts) < 2
            else None
        ),
        device_utilization=device_utilization(launch.steps),
        cpu_delivered_fraction=cpu_delivered_fraction(samples),
        bill=launch.bill(usd_per_hour=usd_per_hour),
    )
