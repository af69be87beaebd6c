"""What a script logged, as ``smtc-lab runs show`` tells it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from smtc_lab.text_table import aligned
from smtc_lab.views.text import format as fmt

if TYPE_CHECKING:
    from smtc_lab.metrics.records.logged import LoggedMetrics

_HEAD = ("metric", "last", "least", "greatest", "values")
_MOST = 20
_MOST_COLUMNS = 40


def metric_lines(logged: LoggedMetrics) -> list[str]:
    """Return a line for each of the first 20 metrics; of several ranks the first one's."""
    if not logged.names:
        return []
    rows = [
        (
            fmt.plain(one.name, _MOST_COLUMNS),
            *(f"{value:.5g}" for value in (one.last, one.least, one.greatest)),
            f"{len(one.value):,}",
        )
        for one in map(logged.__getitem__, logged.names[:_MOST])
    ]
    lines = aligned([_HEAD, *rows])
    if (left := len(logged.names) - _MOST) > 0:
        lines.append(f"and {fmt.count(left, 'more metric')}; --json tells all")
    return [f"{'' if place else 'logged':<11}{line}" for place, line in enumerate(lines)]


def metric_values(logged: LoggedMetrics) -> dict[str, Any]:
    """Return each metric by its name, as JSON has it; NaN and infinite ones are texts."""
    return {
        one.name: {
            "last": _json(one.last),
            "least": _json(one.least),
            "greatest": _json(one.greatest),
            "values": len(one.value),
        }
        for one in map(logged.__getitem__, logged.names)
    }


def _json(value: float) -> float | str:
    return value if math.isfinite(value) else str(value)
