"""The figures of ``notebooks/bench_parallel.ipynb``, with their goals."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING, Any

from notebooks.benchmarks.harness.figure import bench_figure
from notebooks.benchmarks.harness.rounds import ratios

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from notebooks.benchmarks.harness.figure import BenchFigure

Row = dict[str, Any]

ABOVE_BEST_PERCENT = 2.0
CUT_S, CUT_GB = 5.0, 1.0
_WITH_GOAL = {("by operations", "operations"), ("as measured before", "seconds")}
GRADIENTS_OFF = 1e-6
OVERHEAD_PERCENT = 2.0


def cut_figures(rows: Sequence[Row]) -> Iterator[BenchFigure]:
    """Yield the worst of all networks and numbers of stages, for each way to cut."""
    for unit in dict.fromkeys(row["unit"] for row in rows):
        for way in dict.fromkeys(row["way"] for row in rows):
            worst = max(
                row["excess"] for row in rows if row["unit"] == unit and row["way"] == way
            )
            has_goal = (way, unit) in _WITH_GOAL
            yield bench_figure(
                f"slowest stage above the best cut in {unit}, worst of all: {way}",
                [100 * worst],
                unit="%",
                better="lower",
                goal=ABOVE_BEST_PERCENT if has_goal else None,
                peer="all cuts, tried",
            )


def huge_figures(rows: Sequence[Row]) -> Iterator[BenchFigure]:
    """Yield what it takes to cut a model of 10 billion parameters."""
    name = f"cut of 200 modules, {rows[0]['parameters'] / 1e9:.3g} billion parameters"
    yield bench_figure(
        f"{name}: time",
        [row["seconds"] for row in rows],
        unit="s",
        better="lower",
        goal=CUT_S,
    )
    yield bench_figure(
        f"{name}: memory of the process",
        [row["peak_bytes"] / 1e9 for row in rows],
        unit="GB",
        better="lower",
        goal=CUT_GB,
    )


def gradient_figures(rows: Sequence[Row]) -> Iterator[BenchFigure]:
    """Yield the worst rank of each schedule and number of ranks."""
    for schedule, ranks in dict.fromkeys((row["schedule"], row["ranks"]) for row in rows):
        worst = max(
            row["off"] for row in rows if (row["schedule"], row["ranks"]) == (schedule, ranks)
        )
        yield bench_figure(
            f"gradients of {schedule} on {ranks} ranks, relative distance",
            [worst],
            unit="ratio",
            better="lower",
            goal=GRADIENTS_OFF,
            peer="one process",
        )


def overhead_figure(rows: Sequence[Row]) -> BenchFigure:
    """Return what a step takes beyond torch's own, in percent, by rounds."""
    medians = {
        how: {
            number: median(
                row["seconds"] for row in rows if (row["how"], row["round"]) == (how, number)
            )
            for number in dict.fromkeys(row["round"] for row in rows)
        }
        for how in ("ours", "torch")
    }
    return bench_figure(
        "a step of 1F1B beyond torch's own",
        [100 * (one - 1) for one in ratios(medians["ours"], medians["torch"]).values()],
        unit="%",
        better="lower",
        goal=OVERHEAD_PERCENT,
        peer="Schedule1F1B over stages written by hand",
    )
