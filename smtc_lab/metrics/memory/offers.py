"""Clusters that a model could be trained on: what fits, how fast, and for how much."""

from __future__ import annotations

from typing import Any, Literal

from smtc_lab.catalog.accelerators import Precision
from smtc_lab.display import Displayed
from smtc_lab.metrics.memory.cluster_offer import (
    ClusterOffer,
    cheapest_per_hour,
    of_each_strategy,
)
from smtc_lab.metrics.memory.offer_words import HEAD, rows, short_rows
from smtc_lab.metrics.result import Interval, Result
from smtc_lab.text_table import aligned


class ClusterOffers(Displayed, Result):
    """All clusters and strategies that were looked at, with what fits and what it costs."""

    schema_version: Literal[1] = 1
    """Version of this schema."""

    global_batch_size: int
    """Samples of a step, on all devices together."""

    optimizer: str
    """Name of the optimizer's class."""

    precision: Precision
    """In what matrices are multiplied."""

    utilization: Interval
    """Share of the devices' peak that training is expected to reach."""

    utilization_source: str
    """Where that comes from."""

    flops_per_sample: float
    """Operations of a sample, forward and backward, counted on the meta device."""

    offers: tuple[ClusterOffer, ...]
    """What fits, the cheapest first (those of unknown cost by their price after them), then
    what does not, the one that is short of least first."""

    advice: tuple[str, ...]
    """The cheapest with its reason, then what AWS advises, in its order."""

    @property
    def cheapest(self) -> ClusterOffer | None:
        """The cheapest that fits; None: nothing does."""
        return next((one for one in self.offers if one.fits), None)

    @property
    def cheapest_per_hour(self) -> ClusterOffer | None:
        """That which fits at the lowest known price an hour; None: nothing does."""
        return cheapest_per_hour(self.offers)

    def of_each_strategy(self) -> tuple[ClusterOffer, ...]:
        """Return the cheapest of each strategy, in the order in which they are to be tried.

        Of data parallel that with the whole batch and that with a smaller one are two.
        """
        return of_each_strategy(self.offers)

    @property
    def caption(self) -> str:
        """What the numbers of a table of offers are."""
        used = self.utilization
        return (
            f"Steps of {self.global_batch_size:,} samples in {self.precision}, stepped by "
            f"{self.optimizer}. Memory is predicted, times and costs are estimated at "
            f"{used.mean:.2g} ({used.low:.2g}-{used.high:.2g}) of the devices' peak: "
            f"{self.utilization_source}."
        )

    def as_dict(self) -> dict[str, Any]:
        """Return all of it as JSON has it."""
        found = self.model_dump(mode="json")
        return found | {"offers": [one.as_dict() for one in self.offers]}

    def __str__(self) -> str:
        lines = [*self.advice, "", self.caption, ""]
        if table := rows(self.offers):
            lines += ["The cheapest of each strategy, in the order in which to try them:"]
            lines += aligned([("strategy", *HEAD), *table])
        if short := short_rows(self.offers):
            lines += ["", "Does not fit, and is short of least:"]
            lines += aligned([("strategy", *HEAD), *short])
        return "\n".join(lines)

    def __repr__(self) -> str:
        return str(self)
