"""Predictions and measurements as a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from notebooks.benchmarks.planner.outcomes import Outcome


def outcomes_table(found: Sequence[Outcome]) -> str:
    """Return one line for each configuration: workload, batch, device, place, and numbers."""
    head = (
        f"{'configuration':36} {'measured':>9} {'predicted':>9} {'80 % interval':>16} "
        f"{'error':>7}  {'trainer':>8} {'data':>8}  bottleneck"
    )
    return "\n".join([head, *map(_line, found)])


def _line(one: Outcome) -> str:
    estimate, run = one.prediction.step_time_s, one.run
    right = {True: "right", False: "WRONG", None: "a tie"}[one.is_bottleneck_right]
    return (
        f"{run.case.label:36} {_ms(run.step_s):>9} {_ms(estimate.value):>9} "
        f"{_ms(estimate.low):>7} to {_ms(estimate.high):>5} {one.error_fraction:>+7.1%}  "
        f"{_ms(run.resident_s):>8} {_ms(run.loader_s):>8}  {one.prediction.bottleneck}, {right}"
    )


def _ms(seconds: float) -> str:
    return f"{1e3 * seconds:.1f} ms"
