"""Figures of emulated pipelines."""

from __future__ import annotations

from notebooks.benchmarks.parallel.bubbles import pipeline_figures, pipeline_table

ROWS = [
    {
        "round": number,
        "what": "gpipe, 2 ranks, 4 microbatches",
        "bubble": bubble + 0.1,
        "least": bubble,
        "ideal": 0.25,
        "waited": 0.24,
        "imbalance": 1.0,
    }
    for number, bubble in enumerate((0.27, 0.29, 0.20))
]


def test_a_bubble_is_told_by_its_distance_from_the_formula() -> None:
    (figure,) = pipeline_figures(ROWS)

    assert round(figure.value, 9) == 0.04
    assert figure.holds is True
    assert "0.270" in pipeline_table(ROWS)
