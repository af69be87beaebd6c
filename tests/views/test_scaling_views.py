"""What a scaling study is in a notebook, a terminal and a file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from matplotlib.text import Text

from smtc_lab.metrics.parity import ParityResult
from smtc_lab.views.scaling.bundle import bundle_of, snapshot_of
from smtc_lab.views.scaling.figure import scaling_figure, write_scaling_figure
from smtc_lab.views.scaling.info import scaling_info, scaling_of
from smtc_lab.views.scaling.text import scaling_rows, scaling_text
from smtc_lab.views.study.snapshot import COMPARISON_MIME
from smtc_lab.views.text import format as fmt
from smtc_lab.views.text.table import comparison_rows
from tests.kit.scaling import TrueStep, made_scaling, scaling_runs

if TYPE_CHECKING:
    from pathlib import Path

    from smtc_lab.metrics.scaling.scaling import Scaling
    from tests.kit.golden_texts import GoldenTexts

TRUTH = {
    1: TrueStep(),
    2: TrueStep(data_wait_s=0.02, rest_s=0.005),
    4: TrueStep(data_wait_s=0.05, straggling_s=0.01),
}


@pytest.fixture
def scaling() -> Scaling:
    runs, set_ups = scaling_runs(TRUTH)
    return made_scaling(runs, set_ups, samples_per_epoch=50_000)


def test_a_notebook_keeps_numbers_text_html_and_picture(scaling: Scaling) -> None:
    bundle = bundle_of(scaling)

    kept = bundle[COMPARISON_MIME]
    (section,) = kept["info"]["sections"]
    assert kept["kind"] == "scaling"
    assert [p["devices"] for p in section["values"]["curves"][0]["points"]] == [1, 2, 4]
    assert kept["info"]["sentence"] == scaling.verdict
    assert "<script" not in bundle["text/html"]
    assert "weak efficiency" in bundle["text/html"]
    assert bundle["text/plain"] == scaling_text(scaling)
    assert bundle["image/png"]
    assert scaling._repr_mimebundle_() == bundle


def test_a_page_compares_by_the_sample_alone(scaling: Scaling) -> None:
    seen = snapshot_of(scaling)

    labels = [row.label for row in seen.info.rows]
    assert "samples/s over the fewest" in labels
    assert "samples per dollar over the first" in labels
    assert len(labels) == len(set(labels))
    html = bundle_of(scaling)["text/html"]
    for by_the_step in ("speed-up", "saving per step"):
        assert by_the_step not in labels
        assert by_the_step not in html


def test_a_terminal_tells_the_step_time_that_the_efficiency_is_of(scaling: Scaling) -> None:
    (told,) = (line for line in scaling_text(scaling).splitlines() if line.startswith("s/step"))

    for point in scaling.curves[0].points:
        assert fmt.number_interval(point.step_time_s) in told


def test_one_launch_of_each_has_no_interval() -> None:
    runs, set_ups = scaling_runs(TRUTH, rounds=1)
    scaling = made_scaling(runs, set_ups, samples_per_epoch=50_000)

    rows = {
        row.label: row.cells for row in scaling_rows(scaling, [each.set_up for each in set_ups])
    }
    by_launch = {label: cells[1][0] for label, cells in rows.items() if label != "devices"}
    assert all(cell.endswith("(one launch)") for cell in by_launch.values()), by_launch
    told = " ".join(str(text.get_text()) for text in texts_of(scaling))
    assert "One launch of each." in told
    assert "Ring" not in told
    pair = {row.label: row.cells[1] for row in comparison_rows(scaling.comparison)}
    assert pair["speed-up"][0].endswith("(one launch)")


def test_the_first_point_is_no_knee_to_be_shown() -> None:
    runs, set_ups = scaling_runs({1: TrueStep(), 2: TrueStep(rest_s=0.08)}, spread=0.002)
    scaling = made_scaling(runs, set_ups)

    assert scaling.curves[0].knee == 1
    (curve,) = scaling_info(scaling, [each.set_up for each in set_ups]).curves
    assert curve.knee is None
    assert "Ring" not in " ".join(str(text.get_text()) for text in texts_of(scaling))


def texts_of(scaling: Scaling) -> list[Text]:
    names = [cluster.name for cluster in scaling.comparison.clusters]
    return scaling_figure(scaling_info(scaling, names)).findobj(Text)


def test_what_trainers_learn_is_a_row_and_another_model_a_finding(scaling: Scaling) -> None:
    same = ParityResult(
        verdict="equal to one process within rounding",
        equal=True,
        ranks=2,
        weight_difference=2e-8,
        noise_weight_difference=1e-8,
    )
    other = ParityResult(verdict="differs from one process: why", equal=False, ranks=4)

    checked = scaling.with_same_models({"2 devices": same, "4 devices": other}, ["It failed."])

    names = [point.set_up for point in checked.curves[0].points]
    rows = {row.label: row.cells for row in scaling_rows(checked, names)}
    assert rows["trains the model of one process"] == (
        ("\N{EM DASH}",),
        ("yes, 2e-8 apart (its twin: 1e-8)",),
        ("no",),
    )
    told = [each.sentence for each in checked.findings[:2]]
    assert told == ["4 devices: differs from one process: why.", "It failed."]
    assert "trains the model of one process" in bundle_of(checked)["text/html"]
    assert "differs from one process: why." in scaling_text(checked)


def test_a_study_in_words(scaling: Scaling, golden_texts: GoldenTexts) -> None:
    names = [point.set_up for point in scaling.curves[0].points]

    missing = scaling_rows(scaling, [*names, "8 devices"])

    assert missing[0].cells == (("1",), ("2",), ("4",), ("unknown",))
    golden_texts("scaling", {"text": scaling_text(scaling)})


def test_exposed_communication_is_told_in_text_html_and_the_chart() -> None:
    truth = {1: TrueStep(), 2: TrueStep(rest_s=0.03, exposed_comm_s=0.02)}
    runs, set_ups = scaling_runs(truth)
    scaling = made_scaling(runs, set_ups)
    names = [each.set_up for each in set_ups]

    rows = {row.label: row.cells for row in scaling_rows(scaling, names)}
    _, bars = scaling_figure(scaling_info(scaling, names)).axes

    alone, shared = rows["exposed communication (ms/step)"]
    assert alone == ("\N{EM DASH}",)
    assert shared[0].endswith(", 17 % of it")
    assert float(shared[0].split()[0]) == pytest.approx(20, rel=0.05)
    assert "lost to exposed communication (ms/step)" in rows
    assert "lost to all else (ms/step)" in rows
    html = bundle_of(scaling)["text/html"]
    assert "exposed communication (ms/step)" in html
    assert "exposed communication" in [text.get_text() for text in bars.get_legend().texts]
    named = {each.get_label(): each for each in bars.containers}
    (bar,) = named["exposed communication"]
    assert bar.get_width() == pytest.approx(20, rel=0.05)


def test_the_figure_is_written_as_its_suffix_says(scaling: Scaling, tmp_path: Path) -> None:
    for name in ("figure.png", "figure.svg", "figure.pdf"):
        write_scaling_figure(scaling, tmp_path / name)
        assert (tmp_path / name).stat().st_size > 5_000
    info = scaling_of(snapshot_of(scaling).info)
    assert info is not None
    left, right = scaling_figure(info).axes
    assert left.get_ylabel() == "weak efficiency"
    assert [tick.get_text() for tick in right.get_yticklabels()] == ["1", "2", "4"]
