"""One thing to try, with what it is predicted to bring, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from smtc_lab.metrics.finding import Cost, CostEvidence, Finding
from smtc_lab.planner.model.prediction import Prediction
from smtc_lab.spec.cluster import Cluster

if TYPE_CHECKING:
    from smtc_lab.metrics.result import Interval

AdviceKind = Literal[
    "workers", "larger_size", "data_group", "batch_size", "compile", "transforms"
]
"""``workers``: more data workers on the same instance. ``larger_size``: more CPUs for the same
accelerators. ``data_group``: CPU instances beside. ``batch_size``, ``compile``: a faster step.
``transforms``: less work for the CPU, more for the device."""

LEAST_GAIN = 1.02
"""Speed-up below which advice brings no more than the model can tell."""


class Advice(Finding):
    """One thing to try, with what it is predicted to bring: its sentence says both."""

    kind: AdviceKind
    """What sort of change it is."""

    cluster: Cluster | None = None
    """The cluster to use; None: the same."""

    prediction: Prediction | None = None
    """What is predicted with it; None: not known before it is measured."""

    speedup: float | None = None
    """Samples per second over those before; None: not known before it is measured."""

    saving_fraction: float | None = None
    """Share of the cost per sample that it saves; negative: it costs more. None: unknown."""

    @property
    def evidence(self) -> CostEvidence | Literal["unknown"]:
        """How the gain is known. ``at most``: it cannot bring more."""
        return "unknown" if self.cost is None else self.cost.evidence


def told_advice(  # noqa: PLR0913  before and after, and what changes between
    kind: AdviceKind,
    what: str,
    before: Prediction,
    after: Prediction,
    cluster: Cluster | None = None,
    *,
    work: float = 1.0,
) -> Advice | None:
    """Return advice with its gain, or None where it brings no more than the model can tell."""
    speedup = work * before.step_time_s.mean / after.step_time_s.mean
    if speedup < LEAST_GAIN:
        return None
    saving = None
    if before.usd_per_step is not None and after.usd_per_step is not None:
        saving = 1 - after.usd_per_step.mean / (work * before.usd_per_step.mean)
    per = "sample" if work != 1 else "step"
    return Advice(
        kind=kind,
        sentence=(
            f"{what}: a {per} is {speedup:.3g} times as fast ({seconds(after.step_time_s)} a "
            f"step) and {_cost_words(saving, per)} ({after.evidence})."
        ),
        fix=f"{what}.",
        cost=Cost(fraction=1 - 1 / speedup, evidence=after.evidence),
        cluster=cluster,
        prediction=after,
        speedup=speedup,
        saving_fraction=saving,
    )


def seconds(estimate: Interval) -> str:
    """Return a time with its 80 % interval, in one unit."""
    unit, factor = ("ms", 1e3) if estimate.mean < 1 else ("s", 1.0)
    low, value, high = (factor * x for x in (estimate.low, estimate.mean, estimate.high))
    return f"{value:.3g} {unit}, 80 % interval {low:.3g} to {high:.3g}"


def _cost_words(saving: float | None, per: str) -> str:
    if saving is None:
        return "its cost is unknown"
    if abs(saving) < 0.005:
        return f"costs the same per {per}"
    change = "less" if saving > 0 else "more"
    return f"costs {100 * abs(saving):.0f} % {change} per {per}"
