"""What a view is told of a metric that a script logs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from smtc_lab.follow.logged.metric_tables import MetricTables


@dataclass(frozen=True, kw_only=True)
class MetricInfo:
    """One metric that a script logs."""

    name: str
    """What the script calls it."""

    table: str
    """Name of its table: ``step``, ``time_s``, ``value``."""

    last: float | None
    """The newest value; None: it is no number, or an infinite one."""

    least: float | None
    """The least value; None: there is none."""

    greatest: float | None
    """The greatest value; None: there is none."""

    points: int
    """How many values there are, those that are no numbers too."""


def metric_infos(metrics: MetricTables) -> tuple[MetricInfo, ...]:
    """Return what is told of the metrics of a run, in the order in which they were seen."""
    return tuple(
        MetricInfo(
            name=metric.name,
            table=metric.table.name,
            last=_known(metric.last),
            least=_known(metric.least),
            greatest=_known(metric.greatest),
            points=metric.table.num_rows,
        )
        for metric in metrics.shown
    )


def _known(value: float) -> float | None:
    return value if math.isfinite(value) else None
