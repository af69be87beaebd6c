"""What a run under a market measured, beside what was forecast of its job."""

from __future__ import annotations

from typing import TYPE_CHECKING

from smtc_lab.errors import PlannerError
from smtc_lab.metrics.cost import usd_per_job
from smtc_lab.metrics.records.attempts import billed_in_cluster_time_s
from smtc_lab.metrics.records.cluster_time import dilation_of_job
from smtc_lab.metrics.records.saves import saves_of
from smtc_lab.metrics.result import Evidence, Result, evidence_of

if TYPE_CHECKING:
    from smtc_lab.launchers.run import Run
    from smtc_lab.metrics.bill import Bill

POLICY = "spot only"
"""What a run under a market does: it waits for instances, however long."""


class MeasuredSpot(Result):
    """One run under a market, in seconds of the market."""

    job_name: str
    """Of the run."""

    policy: str = POLICY
    """Which policy's forecast it stands beside."""

    time_scale: float
    """Seconds of the market in one second of the machine."""

    finish_s: float
    """From its launch to its end, in seconds."""

    billed_s: float
    """Time with instances, in seconds."""

    waiting_s: float
    """Time without, in seconds."""

    lost_s: float
    """Billed time between the last step that counted and the next one, in seconds: steps that
    were done again, and starts."""

    interruptions: int
    """How often its instances were taken away."""

    usd: float
    """Billed time at the forecast's spot price, in USD."""

    evidence: Evidence = "measured"
    """``emulated``: a device or an instance was."""


def measured_spot(run: Run, *, usd_per_hour: float) -> MeasuredSpot:
    """Return what a run under a market measured, in seconds of the market.

    Args:
        run: One that was completed.
        usd_per_hour: Spot price of all its instances.

    Raises:
        PlannerError: It was not completed.
    """
    job, state, bill = run.job, run.state, run.bill
    if state.state != "Completed" or state.started_s is None or bill.billed_s is None:
        raise PlannerError(
            f"Run {run.job_name!r} is {state.state}, so when it ends is not measured. Wait for "
            "its end."
        )
    scale, dilation = scale_of(job.market), dilation_of_job(job)
    billed_s, lost_s = state.billed_s or 0.0, bill.interruptions_s or 0.0
    if dilation != 1:
        billed_s, lost_s = _in_cluster_time(run, bill, dilation)
    return MeasuredSpot(
        job_name=run.job_name,
        time_scale=scale,
        finish_s=scale * (billed_s + state.waited_s),
        billed_s=scale * billed_s,
        waiting_s=scale * state.waited_s,
        lost_s=scale * lost_s,
        interruptions=max(0, len(state.attempts) - 1),
        usd=usd_per_job(billed_s=scale * billed_s, usd_per_hour=usd_per_hour) or 0.0,
        evidence=evidence_of(job),
    )


def _in_cluster_time(run: Run, bill: Bill, dilation: float) -> tuple[float, float]:
    """Return billed and lost time of an emulation: its steps, also those lost, in cluster time.

    Starts, ends and saves take what they took here, as a forecast has them.
    """
    records = run.records()
    saves_s = sum(save.stall_s for save in saves_of(records.events)) / len(records.steps)
    saves_s *= 1 - 1 / dilation  # beyond what they are among the steps
    end_s = bill.end_s or 0.0
    billed_s = billed_in_cluster_time_s(run.state.attempts, dilation=dilation)
    billed_s += saves_s + end_s * (1 - 1 / dilation)
    counted_s = (bill.startup_s or 0.0) + (bill.steps_s or 0.0) + saves_s + end_s
    return billed_s, max(0.0, billed_s - counted_s)


def scale_of(market: object) -> float:
    """Return the seconds of a market in one second of this machine; 1: it is no market."""
    return float(getattr(market, "time_scale", 1.0))
