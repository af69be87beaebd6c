"""The figures of the benchmark, with their goals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from notebooks.benchmarks.harness.figure import BenchFigure, bench_figure
from notebooks.benchmarks.planner.outcomes import choices, outcomes_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from notebooks.benchmarks.planner.outcomes import Choice, Outcome
    from smtc_lab.planner.plan import Plan

_MOST_REGRET = 0.05


def accuracy_figures(found: Sequence[Outcome]) -> list[BenchFigure]:
    """Return errors, bottlenecks and intervals; what nothing was measured of is left out."""
    if not found:
        return []
    errors = [100 * abs(one.error_fraction) for one in found]
    bias = [100 * one.error_fraction for one in found]
    launches = [is_inside for one in found for is_inside in one.are_inside]
    inside = sum(launches) / len(launches)
    means = sum(one.is_mean_inside for one in found) / len(found)
    held = f"80 % intervals that hold a launch, {len(launches)} launches"
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
        bench_figure(held, [inside], unit="share", better="higher", goal=0.75),
        bench_figure(f"{held}, not too wide", [inside], unit="share", better="lower", goal=0.9),
        bench_figure(
            "80 % intervals of a launch that hold the mean of the rounds",
            [means],
            unit="share",
            better="higher",
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


def figures_of_rows(rows: Sequence[Mapping[str, Any]]) -> list[BenchFigure]:
    """Return all figures but that of the control, from nothing but the rows that are kept."""
    found = outcomes_of(rows)
    return [*accuracy_figures(found), *choice_figures(choices(found))]


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
