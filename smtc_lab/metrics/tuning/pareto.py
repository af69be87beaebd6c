"""What trials would cost on other clusters: which model, on which machines, for how much."""

from __future__ import annotations

from smtc_lab.metrics.result import Interval, Result


class PricedTrial(Result):
    """One trial on one cluster, as the planner predicts it."""

    trial: int
    """Its number."""

    cluster: str
    """Name of the cluster."""

    value: float
    """Its objective, which the cluster does not change."""

    usd: Interval
    """What its training would cost there, in USD, with the planner's 80 % interval."""

    time_s: Interval
    """How long it would take there, in seconds, likewise."""

    is_best: bool
    """Whether none that is as good or better costs less."""


class TuningPareto(Result):
    """Trials on clusters, by objective and money."""

    points: tuple[PricedTrial, ...]
    """Those of trials that were trained to their end, on clusters whose price is known."""

    left_out: tuple[str, ...] = ()
    """Clusters and trials that are not among them, and why, a sentence each."""

    @property
    def best(self) -> tuple[PricedTrial, ...]:
        """Those that nothing beats, the cheapest first."""
        found = (point for point in self.points if point.is_best)
        return tuple(sorted(found, key=lambda point: point.usd.mean))
