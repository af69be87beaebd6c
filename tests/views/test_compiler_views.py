from __future__ import annotations

import re
from dataclasses import replace
from html import unescape
from typing import TYPE_CHECKING

import pytest
from matplotlib.figure import Figure
from matplotlib.text import Text

from smtc_lab.metrics.compared.break_even import BreakEven
from smtc_lab.metrics.records.compiler_report import CompileTime, HostOperator
from smtc_lab.metrics.result import Interval
from smtc_lab.views.batch.figure import BatchCurve, throughput_figure
from smtc_lab.views.display import to_html
from smtc_lab.views.figures.compiler import COMPILER_FIGURE_NAMES
from smtc_lab.views.figures.every import FIGURE_NAMES, figure_names, make_figure
from smtc_lab.views.figures.frame import styled
from smtc_lab.views.figures.theme import LIGHT
from smtc_lab.views.report import html as report_module
from smtc_lab.views.report.compiler_section import compiler_section, findings_text
from smtc_lab.views.report.html import report_html
from smtc_lab.views.text import compiler as words
from smtc_lab.views.text.table import TERMINAL_COLUMNS, comparison_rows, comparison_table
from smtc_lab.views.text.words import headline
from tests.kit.comparisons import example_comparison
from tests.kit.compilers import (
    INDUCTOR,
    compiler_report,
    example_compilers,
    troubled_report,
)

if TYPE_CHECKING:
    from smtc_lab.metrics.compared.comparison import Comparison
    from smtc_lab.metrics.records.records import RunRecords
    from tests.kit.golden_texts import GoldenTexts

    Case = tuple[Comparison, list[RunRecords]]


@pytest.fixture(scope="module")
def four() -> Case:
    return example_compilers()


@pytest.fixture
def undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave out the drawings of reports, which take seconds."""
    for maker in ("make_figure", "overview_figure"):
        monkeypatch.setattr(report_module, maker, lambda *_, **__: Figure())
    monkeypatch.setattr(report_module, "rendered", lambda *_: b"image")


@pytest.fixture
def page(four: Case, undrawn: None) -> str:  # noqa: ARG001  it is drawn without it
    return report_html(*four).replace("\u00a0", " ")


def _texts(figure: Figure) -> str:
    return " ".join(text.get_text() for text in figure.findobj(Text))


def test_what_all_run_eagerly_alike_is_no_comparison_of_compilers(four: Case) -> None:
    eager = next(
        cluster.compiler
        for cluster in four[0].clusters
        if cluster.compiler and cluster.compiler.config and cluster.compiler.backend == "eager"
    )
    alike = [each.model_copy(update={"compiler": eager}) for each in four[0].clusters]

    rows = comparison_rows(four[0].model_copy(update={"clusters": tuple(alike)}))

    assert not {"backend", "settings", "break-even step"} & {row.label for row in rows}


@pytest.mark.parametrize("has_report", [True, False])
@pytest.mark.usefixtures("undrawn")
def test_a_compiler_that_all_share_has_a_chapter_only_on_what_it_did(
    four: Case, *, has_report: bool
) -> None:
    compiler = four[0].clusters[2].compiler
    assert compiler is not None
    if not has_report:
        compiler = compiler.model_copy(update={"report": None})
    clusters = [each.model_copy(update={"compiler": compiler}) for each in four[0].clusters]
    alike = four[0].model_copy(update={"clusters": tuple(clusters), "factors": ()})

    page = report_html(alike, four[1])

    assert ('<h2 id="compiler">' in page) == has_report
    for words_of_chapter in ("no two set-ups differ", "time saved against", "Effect of each"):
        assert words_of_chapter not in page
    assert ("All set-ups have the same compiler" in page) == has_report
    assert "break-even step is" not in page


def test_costs_that_nobody_knows_do_not_fill_the_table(
    four: Case, golden_texts: GoldenTexts
) -> None:
    text = comparison_table(four[0])

    assert "$" not in text
    assert max(map(len, text.splitlines())) <= TERMINAL_COLUMNS
    golden_texts("compiler", {"table": text})


def test_the_headline_leaves_out_who_learns_something_else(four: Case) -> None:
    comparison = four[0]
    fast = Interval(mean=9.0, low=8.0, high=10.0)
    pairs = (*comparison.pairs[:2], comparison.pairs[2].model_copy(update={"speedup": fast}))

    told = headline(comparison.model_copy(update={"pairs": pairs}))

    assert told.startswith("inductor: 1.30")
    assert "cost" not in told


def test_a_comparison_without_compilers_looks_as_before() -> None:
    comparison, runs = example_comparison()

    assert figure_names(comparison) == FIGURE_NAMES
    assert compiler_section(comparison, runs) is None
    assert findings_text(comparison, runs) == ""
    assert "break-even" not in comparison_table(comparison)


def test_what_compilers_take_and_break_in_words(four: Case, golden_texts: GoldenTexts) -> None:
    steps = Interval(mean=1166.2, low=900.0, high=1500.5)
    told = {
        f"break-even {n}": words.break_even_words(each)
        for n, each in enumerate(
            (
                None,
                BreakEven(steps=None, is_slower=True),
                BreakEven(steps=None, is_slower=False),
                BreakEven(steps=steps, is_slower=False),
            ),
            1,
        )
    }
    split = CompileTime(capture_s=1.0, lowering_s=2.0, total_s=10.0, compilations=1)
    told["compile time with a rest"] = words.compile_time_words(split)
    whole = CompileTime(total_s=10.0, compilations=2)
    told["compile time that is not split"] = words.compile_time_words(whole)

    golden_texts("compiler", told | {"findings": findings_text(*four)})


@pytest.mark.parametrize("name", COMPILER_FIGURE_NAMES)
@pytest.mark.parametrize("with_records", [True, False])
def test_nothing_of_a_figure_is_cut_off(name: str, four: Case, *, with_records: bool) -> None:
    figure = make_figure(name, four[0], four[1] if with_records else [])

    with styled(LIGHT):
        figure.draw_without_rendering()
        drawn = figure.get_tightbbox()
    width_in, height_in = figure.get_size_inches()

    assert drawn.x0 >= -0.01
    assert drawn.y0 >= -0.01
    assert drawn.x1 <= width_in + 0.01
    assert drawn.y1 <= height_in + 0.01


def test_the_cumulative_figure_marks_the_break_even_and_what_is_predicted(four: Case) -> None:
    figure = make_figure("cumulative", *four)

    text = _texts(figure)

    assert "Dotted: predicted" in text
    assert "step 16" in text
    assert figure.axes[0].get_ylabel() == "seconds saved, measured"
    lines = {line.get_label(): line for line in figure.axes[0].lines}
    assert lines["xla"].get_ydata()[-1] < 0
    assert lines["inductor"].get_xdata()[-1] == 60


def test_a_break_even_far_away_does_not_press_the_chart_together(four: Case) -> None:
    comparison, runs = four
    far = BreakEven(steps=Interval(mean=1e6, low=9e5, high=2e6), is_slower=False)
    clusters = tuple(
        cluster.model_copy(
            update={"compiler": cluster.compiler.model_copy(update={"break_even": far})}
        )
        for cluster in comparison.clusters
        if cluster.compiler is not None
    )

    figure = make_figure(
        "cumulative", comparison.model_copy(update={"clusters": clusters}), runs
    )

    assert figure.axes[0].get_xlim()[1] == 60


def test_an_effect_within_its_interval_is_no_difference(four: Case) -> None:
    comparison, runs = four
    unsure = comparison.factors[0].model_copy(
        update={"speedup": Interval(mean=1.02, low=0.97, high=1.06)}
    )

    figure = make_figure("factors", comparison.model_copy(update={"factors": (unsure,)}), runs)

    assert "1.02\u00d7, no difference seen" in _texts(figure)


def test_the_report_tells_what_each_compiler_did(page: str, golden_texts: GoldenTexts) -> None:
    chapter = page[page.index('<h2 id="compiler">') :]
    chapter = chapter[: chapter.index("<h2", 1)]
    lines = (" ".join(unescape(each).split()) for each in re.split(r"<[^>]*>", chapter))

    golden_texts("compiler", {"report": "\n".join(line for line in lines if line)})
    assert "Cost, three ways" not in page
    assert page.count("<figure>") == 6


def test_hostile_names_stay_text(four: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    for maker in ("make_figure", "overview_figure"):
        monkeypatch.setattr(report_module, maker, lambda *_, **__: Figure())
    monkeypatch.setattr(report_module, "rendered", lambda *_: b"image")
    comparison, runs = four
    hostile = "<script>alert(1)</script>"
    report = compiler_report(
        INDUCTOR,
        fell_back_because=hostile,
        notes=(hostile,),
        cache_note=hostile,
        host_operators=(HostOperator(operator=hostile, per_step=1.0),),
    )
    cluster = comparison.clusters[2]
    assert cluster.compiler is not None
    changed = cluster.model_copy(
        update={"compiler": cluster.compiler.model_copy(update={"report": report})}
    )
    run = replace(
        next(run for run in runs if run.label == "inductor"), compiler={"algo-1-rank0": report}
    )

    text = report_html(
        comparison.model_copy(update={"clusters": (comparison.clusters[0], changed)}),
        [*runs[:1], run],
    )

    assert "<script" not in text
    assert text.count("&lt;script&gt;") >= 4


def test_a_notebook_shows_compilers_too(four: Case) -> None:
    html = to_html(four[0])

    assert "break-even step" in html
    assert "prices" not in html


def test_a_report_without_findings_says_nothing_of_them(four: Case) -> None:
    assert troubled_report().graph_breaks
    section = compiler_section(four[0], [])

    assert section is not None
    assert all(set_up.findings == () for set_up in section.set_ups)


CURVES = (
    BatchCurve(
        name="eager",
        batch_sizes=(8, 16, 40),
        samples_per_s=(40.0, 70.0, 69.0),
        least_too_large=48,
    ),
    BatchCurve(name="inductor", batch_sizes=(), samples_per_s=()),
)


def test_a_throughput_curve_marks_the_best_batch_and_the_first_that_did_not_fit() -> None:
    figure = throughput_figure(CURVES, subtitle="Measured on this CPU")

    axes = figure.axes[0]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("batch size (samples)", "samples/s")
    assert [line.get_xdata()[0] for line in axes.lines] == [8, 16, 48]


def test_no_batch_that_fits_is_words_and_no_chart() -> None:
    figure = throughput_figure(CURVES[1:], subtitle="Measured on this CPU")

    assert "No batch size was measured." in _texts(figure)
