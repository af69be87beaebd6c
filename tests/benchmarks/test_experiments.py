from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from notebooks.benchmarks.experiments.figures import Sizes, experiment_rows, figures_of
from tests.kit.browser.chromium import chromium

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.browser
@pytest.mark.timeout(180)
@pytest.mark.skipif(chromium() is None, reason="no Chromium")
def test_each_figure_is_told_in_its_unit_with_its_goal(tmp_path: Path) -> None:
    sizes = Sizes(num_runs=4, num_points=40, curve_points=40, repeats=1, rest_s=0.5)

    figures = figures_of(experiment_rows(tmp_path, sizes))

    goals = [(each.unit, each.goal) for each in figures]
    python = [("us", 20), *[("ms", 300)] * 3, ("s", 3), ("ms", 300)]
    assert goals == [("ms", None), *python, ("ms", None), *[("ms", 300)] * 6, ("s", 1)]
    assert all(each.value > 0 for each in figures)
