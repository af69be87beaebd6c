"""The figures of one clock: what an emulation says of a cluster is what its plan says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from notebooks.benchmarks.planner.aws_row import aws_figure
from notebooks.benchmarks.planner.sides import pair_figures
from notebooks.benchmarks.truth.cores import cores_figures
from notebooks.benchmarks.truth.known_truth import known_figures

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from notebooks.benchmarks.harness.figure import BenchFigure


def emulated_figures(rows: Sequence[Mapping[str, Any]]) -> list[BenchFigure]:
    """Return all figures, from nothing but the rows that are kept.

    Args:
        rows: Each says ``what`` it is of: ``pairs``, ``known`` or ``cores``.
    """
    of = {
        what: [row for row in rows if row["what"] == what]
        for what in ("pairs", "known", "cores")
    }
    return [
        *pair_figures(of["pairs"]),
        *known_figures(of["known"]),
        *cores_figures(of["cores"]),
        aws_figure(),
    ]
