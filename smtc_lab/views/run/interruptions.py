"""What a browser is told of a run's interruptions, and of its savings on spot instances."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from smtc_lab.metrics.cost import usd_per_job
from smtc_lab.metrics.records.facts import number_of
from smtc_lab.metrics.records.interrupted import Gap, gaps
from smtc_lab.views.text.format import brief

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from smtc_lab.metrics.result import Evidence
    from smtc_lab.store.state import RunState

MOST_INTERRUPTIONS = 200
"""Interruptions that are told one by one, the latest; a bill has all of them."""


@dataclass(frozen=True, kw_only=True)
class InterruptionInfo:
    """One interruption, from the last step that counts to the next one.

    Moments are seconds since the begin of the run.
    """

    from_s: float
    """End of the last step that counts."""

    gone_s: float
    """When the instances were gone."""

    back_s: float | None
    """When the next attempt began, or the run ended without one; None: it still waits."""

    until_s: float | None
    """Begin of the next step that counts; None: the next attempt made none, or not yet, or it
    is the first one, before which the run starts up."""

    step: int
    """Number of that step."""

    waited_s: float
    """Time without instances, which is not billed, in seconds; 0 while it waits."""

    lost_s: float
    """Billed time that made no step that counts, in seconds."""

    lost_usd: float | None
    """Its price in USD; None: a price is unknown, or it was emulated."""

    reason: str
    """What interrupted it, one sentence; empty: it was not told."""


@dataclass(frozen=True, kw_only=True)
class SpotInfo:
    """What a job on spot instances is billed for."""

    training_s: float
    """Time from the start of the instances to the end or to now, waiting included, in
    seconds: SageMaker's TrainingTimeInSeconds."""

    billable_s: float
    """How much of it is billed, in seconds: SageMaker's BillableTimeInSeconds."""

    savings_fraction: float
    """Managed spot training savings as SageMaker tells them: 1 - billable / training."""

    told_by: Literal["platform", "run"]
    """``platform``: both are what it bills by, with its spot price; ``run``: what its state
    tells of time with and without instances, and of no price."""


def interruption_infos(
    state: RunState,
    times_s: NDArray[np.float64] | None,
    *,
    begin_s: float | None,
    usd_per_hour: float | None,
    evidence: Evidence,
) -> tuple[InterruptionInfo, ...]:
    """Return the latest interruptions of a run, in order.

    Args:
        state: Of the run.
        times_s: Begin and end of the steps that count, shape (2, N), in seconds since the
            epoch; None: it has none.
        begin_s: Begin of the run, in seconds since the epoch; None: it has not begun.
        usd_per_hour: Price of the whole cluster; None: unknown.
        evidence: Whether it is emulated, of which only steps have a price.
    """
    if begin_s is None:
        return ()
    price = None if evidence == "emulated" else usd_per_hour
    reasons = {attempt.ended_s: attempt.interrupted_by for attempt in state.attempts}
    found = gaps(state.attempts, times_s, ended_s=state.ended_s)[-MOST_INTERRUPTIONS:]
    return tuple(
        InterruptionInfo(
            from_s=gap.last_step_s - begin_s,
            gone_s=gap.gone_s - begin_s,
            back_s=_since(begin_s, gap.back_s),
            until_s=_since(begin_s, gap.next_step_s if gap.step else None),
            step=gap.step,
            waited_s=gap.waited_s,
            lost_s=gap.lost_s,
            lost_usd=usd_per_job(billed_s=gap.lost_s, usd_per_hour=price),
            reason=brief(_reason(gap, reasons)),
        )
        for gap in found
    )


def spot_info(state: RunState, *, elapsed_s: float | None, is_spot: bool) -> SpotInfo | None:
    """Return what a job is billed for; None: it is no spot job, or has not begun.

    Args:
        state: Of its run.
        elapsed_s: How long it has lasted in seconds; None: it has not begun.
        is_spot: Whether it uses spot instances.
    """
    billable_s, training_s = (
        number_of(state.facts, name) for name in ("billable_s", "training_s")
    )
    is_told = billable_s is not None and bool(training_s)
    if not is_told:
        billable_s, training_s = state.billed_s, elapsed_s
    if not is_spot or billable_s is None or not training_s:
        return None
    return SpotInfo(
        training_s=training_s,
        billable_s=billable_s,
        savings_fraction=max(0.0, 1 - billable_s / training_s),  # clocks are read in turn
        told_by="platform" if is_told else "run",
    )


def _reason(gap: Gap, reasons: dict[float | None, str]) -> str:
    return reasons.get(gap.gone_s, "")


def _since(begin_s: float, moment_s: float | None) -> float | None:
    return None if moment_s is None else moment_s - begin_s
