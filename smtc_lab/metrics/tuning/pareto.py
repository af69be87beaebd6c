"""What trials would cost on other clusters: which model, on which machines, for how much."""

from __future__ import annotations

from smtc_lab.metrics.result import Interval, Result
from smtc_lab.neutral_text import neutral
from smtc_lab.text_table import aligned

PARETO = "pareto.json"
"""File with the newest one of a search, in its folder."""

LEAST_GAIN = 0.05
"""A point that is cheaper by less is no cheaper: launches of one job lie as far apart."""


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
    """Whether none that is as good or better costs less, or less than 5 % more."""


class TuningPareto(Result):
    """Trials on clusters, by objective and money."""

    study: str = ""
    """Name of the search; empty: not told."""

    objective: str = ""
    """Name of the metric that is least or greatest; empty: not told."""

    points: tuple[PricedTrial, ...]
    """Those of trials that were trained to their end, on clusters whose price is known."""

    left_out: tuple[str, ...] = ()
    """Clusters and trials that are not among them, and why, a sentence each."""

    @property
    def best(self) -> tuple[PricedTrial, ...]:
        """Those that nothing beats, the cheapest first."""
        found = (point for point in self.points if point.is_best)
        return tuple(sorted(found, key=lambda point: point.usd.mean))

    def __str__(self) -> str:
        head = ("trial", self.objective, "USD, 80 %", "s", "cluster")
        rows = [
            (
                str(one.trial),
                f"{one.value:.4g}",
                f"{one.usd.mean:.3g} ({one.usd.low:.3g} to {one.usd.high:.3g})",
                f"{one.time_s.mean:.3g}",
                one.cluster,
            )
            for one in self.best
        ]
        table = aligned([tuple(map(neutral, row)) for row in (head, *rows)])
        return "\n".join([*table, *self.left_out])
