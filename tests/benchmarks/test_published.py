"""The planner beside published curves: the default p, unseen rows, and what is kept of them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import papermill
import pytest

from notebooks.benchmarks.planner.published import CURVES, RAY, Curve
from notebooks.benchmarks.planner.unseen import (
    SHARPNESSES,
    errors_by_p,
    left_out,
    rows_from_json,
    unseen_figures,
    unseen_rows,
)
from smtc_lab.planner import intervals
from smtc_lab.planner.model.predict import predict
from smtc_lab.planner.model.sharpness import BARRIER_P

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"
KEPT = NOTEBOOKS / "results" / "published.json"


def mean_errors(p: float) -> float:
    return float(np.mean([errors_by_p(curve, [p])[0] for curve in CURVES]))


def test_no_row_that_was_calibrated_counts_as_unseen() -> None:
    for curve in (*CURVES, RAY):
        assert {nodes for nodes, _ in curve.unseen}.isdisjoint(curve.inputs)
        assert any(curve.is_near(nodes) for nodes, _ in curve.unseen)


def test_the_default_p_of_several_ranks_is_near_the_best_of_six_published_curves() -> None:
    errors = [mean_errors(p) for p in SHARPNESSES]

    assert mean_errors(BARRIER_P) < min(errors) + 0.5
    assert mean_errors(4.0) > 2 * mean_errors(BARRIER_P)


def test_each_curve_is_missed_by_less_with_the_p_of_the_others_than_with_four() -> None:
    for name, (p, error) in left_out(CURVES).items():
        (own,) = (curve for curve in CURVES if curve.name == name)

        assert p >= 8
        if name != "Cachew, 8 rows":  # of which alone 4 was
            assert error < errors_by_p(own, [4.0])[0]


def test_the_kept_rows_are_those_of_todays_model() -> None:
    kept = json.loads(KEPT.read_text(encoding="utf-8"))["rows"]

    for then, now in zip(rows_from_json(kept), unseen_rows((*CURVES, RAY)), strict=True):
        assert (then.curve, then.nodes, then.bottleneck) == (
            now.curve,
            now.nodes,
            now.bottleneck,
        )
        for name in ("predicted_s", "low_s", "high_s", "narrow_low_s", "narrow_high_s"):
            assert getattr(then, name) == pytest.approx(getattr(now, name), rel=1e-3)


def test_the_kept_figures_follow_from_the_kept_rows() -> None:
    kept = json.loads(KEPT.read_text(encoding="utf-8"))

    figures = unseen_figures(rows_from_json(kept["rows"]))

    assert [(each.name, each.value) for each in figures] == [
        (each["name"], pytest.approx(each["value"])) for each in kept["figures"]
    ]


def test_the_results_page_has_the_errors_by_p_that_the_curves_give() -> None:
    page = (KEPT.parent / "README.md").read_text(encoding="utf-8")
    sharpnesses = (4, 6, 8, 10, 12, 16)
    lines = {curve.name: errors_by_p(curve, sharpnesses) for curve in CURVES}
    lines["mean"] = [mean_errors(p) for p in sharpnesses]

    for name, errors in lines.items():
        assert f"| {name} | {' | '.join(f'{error:.1f}' for error in errors)} |" in page


@pytest.mark.parametrize("curve", CURVES, ids=lambda curve: curve.name)
def test_a_first_row_alone_marks_what_it_cannot_tell(curve: Curve) -> None:
    nodes, _ = curve.rows[-1]
    whole = curve.calibration()
    (device,) = whole.device_points
    bound = intervals.measured(curve.node_s / 2, 0.0, curve.node_s)
    alone = whole.model_copy(
        update={"device_points": (device.model_copy(update={"step_s": bound}),)}
    )

    said, told = (predict(each, curve.setup(nodes)) for each in (alone, whole))

    assert (said.evidence, told.evidence) == ("estimated", "predicted")
    assert any("device_points" in each for each in said.cautions)


def test_a_first_row_with_a_device_of_no_time_misses_the_last_row_by_half() -> None:
    """Which is why it is marked: nothing in the row says that there is a device."""
    errors = [
        curve.data_s(nodes) / time_s - 1 for curve in CURVES for nodes, time_s in curve.rows
    ]

    assert min(errors) == pytest.approx(-0.56, abs=0.01)


@pytest.mark.notebook
@pytest.mark.timeout(300)
@pytest.mark.filterwarnings("default")
def test_the_notebook_writes_its_rows_and_figures(tmp_path: Path) -> None:
    papermill.execute_notebook(
        str(NOTEBOOKS / "bench_published.ipynb"),
        str(tmp_path / "out.ipynb"),
        parameters={"json_file": "figures.json"},
        cwd=str(tmp_path),
        progress_bar=False,
        kernel_name="python3",
    )

    written = json.loads((tmp_path / "figures.json").read_text(encoding="utf-8"))
    assert len(written["rows"]) == written["figures"][0]["value"]
