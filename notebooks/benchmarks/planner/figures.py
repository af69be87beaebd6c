"""The figures of the benchmark, with their goals."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from notebooks.benchmarks.harness.figure import BenchFigure, bench_figure

if TYPE_CHECKING:
    from collections.abc import Sequence

    from notebooks.benchmarks.planner.outcomes import Choice, Outcome
    from smtc_lab.planner.plan import Plan

_MOST_REGRET = 0.05


def accuracy_figures(found: Sequence[Outcome]) -> list[BenchFigure]:
    """Return errors, bottlenecks and intervals; what nothing was measured of is left out."""
    if not found:
        return []
    errors = [100 * abs(one.error_fraction) for one in found]
    bias = [100 * one.error_fraction for one in found]
    inside = sum(one.is_inside for one in found) / len(found)
    named = [one.is_bottleneck_right for one in found if one.is_bottleneck_right is not None]
    figures = [
        bench_figure("configurations", [len(found)], unit="runs", better="higher", goal=12),
        bench_figure("step time error, median", errors, unit="%", better="lower", goal=5),
        bench_figure(
            "step time error, 90th percentile",
            [float(np.percentile(errors, 90))],
            unit="%",
            better="lower",
            goal=10,
        ),
        bench_figure("step time bias, median", bias, unit="%", better="lower"),
        bench_figure(
            "80 % intervals that hold the measurement",
            [inside],
            unit="share",
            better="higher",
            goal=0.75,
        ),
        bench_figure(
            "80 % intervals that hold the measurement, not too wide",
            [inside],
            unit="share",
            better="lower",
            goal=0.9,
        ),
    ]
    if named:
        right = sum(named) / len(named)
        figures.append(
            bench_figure(
                f"bottlenecks named right, {len(named)} beyond 10 % of a tie",
                [right],
                unit="share",
                better="higher",
                goal=0.95,
            )
        )
    return figures


def choice_figures(found: Sequence[Choice]) -> list[BenchFigure]:
    """Return what the choice costs beyond the best one, and the negative control."""
    if not found:
        return []
    cheap = sum(one.regret_fraction <= _MOST_REGRET for one in found) / len(found)
    fed = sum(one.is_device_bound and one.chosen.place.data_cores > 0 for one in found)
    return [
        bench_figure(
            f"choices at most 5 % dearer than the best, {len(found)} searches",
            [cheap],
            unit="share",
            better="higher",
            goal=0.9,
        ),
        bench_figure(
            "device-bound searches that chose a data instance",
            [fed],
            unit="searches",
            better="lower",
            goal=0,
        ),
    ]


def control_figure(plan: Plan) -> BenchFigure:
    """Return how many clusters with data instances a plan names for a device-bound workload."""
    named = [plan.cheapest, plan.fastest, plan.knee, plan.best.candidate]
    fed = sum(one.is_heterogeneous for one in named)
    return bench_figure(
        "data instances named for a device-bound workload",
        [fed],
        unit="clusters",
        better="lower",
        goal=0,
    )
