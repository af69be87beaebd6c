"""Predictions and measurements as a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from notebooks.benchmarks.harness.table import text_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from notebooks.benchmarks.planner.outcomes import Outcome


def outcomes_table(found: Sequence[Outcome]) -> str:
    """Return one line for each configuration: workload, batch, device, place, and numbers."""
    titles = (
        "configuration",
        "bottleneck",
        "measured",
        "predicted",
        "80 % interval",
        "error",
        "trainer",
        "data",
    )
    return text_table(titles, [_line(one) for one in found], names=2)


def _line(one: Outcome) -> list[str]:
    estimate, run = one.predicted_s, one.run
    right = {True: "right", False: "WRONG", None: "a tie"}[one.is_bottleneck_right]
    return [
        run.case.label,
        f"{one.bottleneck}, {right}",
        _ms(run.step_s),
        _ms(estimate.value),
        f"{_ms(estimate.low)} to {_ms(estimate.high)}",
        f"{one.error_fraction:+.1%}",
        _ms(run.resident_s),
        _ms(run.loader_s),
    ]


def _ms(seconds: float) -> str:
    return f"{1e3 * seconds:.1f} ms"
