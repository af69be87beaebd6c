"""What the counted cells come to, beside the goals."""

from __future__ import annotations

from typing import TYPE_CHECKING

from notebooks.benchmarks.harness.figure import BenchFigure, bench_figure

if TYPE_CHECKING:
    from collections.abc import Sequence

    from notebooks.benchmarks.truth.counting import Row

LEAST, MOST = 0.93, 0.99
"""Coverage that is asked of each cell."""

MOST_WRONG = 0.05
"""Share of false verdicts that is allowed."""

_ERRORS = 2.0
_ALIKE = ("independent steps", "AR(1) 0.3", "AR(1) 0.6", "AR(1) 0.9")


def percent(share: float | None) -> str:
    """Return a share for a table; nothing where it was not counted."""
    return "" if share is None else f"{100 * share:.1f} %"


def error(share: float, row: Row) -> float:
    """Return two standard errors of a share that so many repetitions counted."""
    counted = max(1.0, row["repetitions"] * (1 - row["unsettled"]))
    return float(_ERRORS * (share * (1 - share) / counted) ** 0.5)


def claiming(rows: Sequence[Row]) -> list[Row]:
    """Return the cells that claim something: at least half are not told to be unsettled."""
    return [row for row in rows if row["coverage"] is not None and row["unsettled"] < 0.5]


def too_low(row: Row) -> bool:
    """Return whether a cell's intervals hold the truth too seldom."""
    return bool(row["coverage"] < LEAST - error(LEAST, row))


def too_high(row: Row) -> bool:
    """Return whether a cell's intervals are wider than they need to be."""
    return bool(row["coverage"] > MOST + error(MOST, row))


def too_wrong(row: Row, name: str) -> bool:
    """Return whether a cell without a difference claims one too often."""
    share = row[name]
    if share is None or row["ratio"] != 1.0:
        return False
    return bool(share > MOST_WRONG + error(MOST_WRONG, row))


def figures(rows: Sequence[Row]) -> list[BenchFigure]:
    """Return the figures of all cells."""
    told = claiming(rows)
    alike = [
        row["width"] / row["width_of_welch"]
        for row in told
        if row["process"] in _ALIKE and row["launches"] > 2
    ]

    def share(name: str, found: Sequence[Row]) -> BenchFigure:
        return bench_figure(
            name,
            [len(found) / len(told)],
            unit="share of the cells",
            better="lower",
            goal=0.0,
        )

    return [
        share("intervals hold less than 93 %", [row for row in told if too_low(row)]),
        share("intervals hold more than 99 %", [row for row in told if too_high(row)]),
        share("false verdicts above 5 %", [row for row in told if too_wrong(row, "wrong")]),
        share(
            "false verdicts above 5 % in any live look",
            [row for row in told if too_wrong(row, "wrong_live")],
        ),
        bench_figure(
            "width where launches are alike, over Welch's t",
            alike,
            unit="ratio",
            better="lower",
            goal=1.1,
        ),
    ]
