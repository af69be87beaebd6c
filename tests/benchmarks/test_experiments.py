from __future__ import annotations

from typing import TYPE_CHECKING

from notebooks.benchmarks.experiments.figures import experiment_figures

if TYPE_CHECKING:
    from pathlib import Path


def test_each_figure_is_told_in_its_unit_with_its_goal(tmp_path: Path) -> None:
    figures = experiment_figures(tmp_path, num_runs=4, num_points=40, repeats=1)

    goals = [(each.unit, each.goal) for each in figures]
    assert goals == [("us", 20), *[("ms", 300)] * 3, ("s", 3), ("ms", 300), ("ms", None)]
    assert all(each.value > 0 for each in figures)
