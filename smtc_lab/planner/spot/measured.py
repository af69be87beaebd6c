"""What a run under a market measured, beside what was forecast of its job."""

from __future__ import annotations

from typing import TYPE_CHECKING

from smtc_lab.errors import PlannerError
from smtc_lab.metrics.cost import usd_per_job
from smtc_lab.metrics.result import Evidence, Result, evidence_of

if TYPE_CHECKING:
    from smtc_lab.launchers.run import Run

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
    scale = scale_of(job.market)
    billed_s, waiting_s = scale * (state.billed_s or 0.0), scale * state.waited_s
    return MeasuredSpot(
        job_name=run.job_name,
        time_scale=scale,
        finish_s=billed_s + waiting_s,
        billed_s=billed_s,
        waiting_s=waiting_s,
        lost_s=scale * (bill.interruptions_s or 0.0),
        interruptions=max(0, len(state.attempts) - 1),
        usd=usd_per_job(billed_s=billed_s, usd_per_hour=usd_per_hour) or 0.0,
        evidence=evidence_of(job),
    )


def scale_of(market: object) -> float:
    """Return the seconds of a market in one second of this machine; 1: it is no market."""
    return float(getattr(market, "time_scale", 1.0))
