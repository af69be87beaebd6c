from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from matplotlib.container import ErrorbarContainer
from matplotlib.text import Text

from smtc_lab.errors import StoreError
from smtc_lab.metrics.result import Interval
from smtc_lab.views.figures import every as figures_module
from smtc_lab.views.figures import frame as frame_module
from smtc_lab.views.figures.every import (
    FIGURE_NAMES,
    make_figure,
    overview_figure,
    save_figures,
)
from smtc_lab.views.figures.frame import rendered, styled
from smtc_lab.views.figures.theme import DARK, LIGHT
from smtc_lab.views.text.words import headline
from tests.kit.comparison_runs import C5, HETEROGENEOUS, HOMOGENEOUS, P3
from tests.kit.comparisons import example_comparison

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from smtc_lab.metrics.compared.comparison import Comparison
    from smtc_lab.metrics.records.records import RunRecords

    Case = tuple[Comparison, list[RunRecords]]

LONG = "two data groups, and a name that is as long as a name may be ..."
UNPRICED = replace(HETEROGENEOUS, name=LONG, groups=(P3, replace(C5, usd_per_hour=None)))


@pytest.fixture(scope="module")
def two() -> Case:
    return example_comparison()


@pytest.fixture(scope="module")
def four() -> Case:
    slower = replace(HOMOGENEOUS, name="_slower $x^2$", step_time_s=0.7)
    return example_comparison([HOMOGENEOUS, HETEROGENEOUS, UNPRICED, slower])


@pytest.fixture(scope="module")
def one() -> Case:
    return example_comparison([replace(HOMOGENEOUS, launches=1)], emulated=False)


@pytest.fixture(scope="module")
def without_records(two: Case) -> Case:
    return two[0], []


@pytest.fixture
def case(request: pytest.FixtureRequest) -> Case:
    found: Case = request.getfixturevalue(request.param)
    return found


def _texts(figure: Figure) -> list[str]:
    return [text.get_text() for text in figure.findobj(Text)]


def _axes_labels(figure: Figure) -> list[str]:
    axes: list[Axes] = figure.axes
    return [label for each in axes for label in (each.get_xlabel(), each.get_ylabel()) if label]


@pytest.mark.parametrize("name", FIGURE_NAMES)
@pytest.mark.parametrize("case", ["one", "two"], indirect=True)
def test_every_figure_says_what_its_numbers_are(name: str, case: Case) -> None:
    comparison, runs = case

    text = " ".join(_texts(make_figure(name, comparison, runs))).lower()

    assert comparison.evidence in text
    assert ("1 s of it took 32 s here" in text) == (comparison.evidence == "emulated")


@pytest.mark.parametrize("name", FIGURE_NAMES)
@pytest.mark.parametrize("case", ["four", "without_records"], indirect=True)
def test_nothing_is_cut_off_at_the_edge(name: str, case: Case) -> None:
    figure = make_figure(name, *case)

    with styled(LIGHT):
        figure.draw_without_rendering()
        drawn = figure.get_tightbbox()
    width_in, height_in = figure.get_size_inches()

    assert drawn.x0 >= -0.01
    assert drawn.y0 >= -0.01
    assert drawn.x1 <= width_in + 0.01
    assert drawn.y1 <= height_in + 0.01


def test_axes_have_units(two: Case) -> None:
    labels = {name: _axes_labels(make_figure(name, *two)) for name in FIGURE_NAMES}

    assert labels["overview"] == ["seconds per step, emulated", "USD per 1,000 steps, emulated"]
    assert set(labels["step_time"]) == {"step time (s)", "step of each launch"}
    assert labels["distribution"] == ["step time (s)", "share of steps"]
    assert labels["cost"] == ["USD per 1,000 steps, emulated"]
    assert "seconds from the first step" in labels["utilization"]


def test_the_overview_carries_the_message(two: Case) -> None:
    texts = _texts(overview_figure(two[0]))

    title = headline(two[0]).replace(" %", "\u00a0%")
    assert title in [text.replace("\n", " ") for text in texts]
    assert {"0.609 s", "0.105 s", "$0.647", "$0.166"} <= set(texts)


def test_an_overview_for_a_page_has_no_frame(two: Case) -> None:
    texts = _texts(overview_figure(two[0], framed=False))

    assert not any("faster" in text or "prices" in text for text in texts)


def test_step_time_shows_each_launch_and_counts_what_lies_above(two: Case) -> None:
    texts = _texts(make_figure("step_time", *two))

    assert [text for text in texts if text.startswith("launch ")] == [
        "launch 1",
        "launch 2",
        "launch 3",
    ] * 2
    assert any("\u25b2 7 steps above 0.93 s" in text for text in texts)


def test_step_time_axes_are_shared_so_that_clusters_compare_by_eye(four: Case) -> None:
    tops = {axes.get_ylim() for axes in make_figure("step_time", *four).axes}

    assert len(tops) == 1


def test_many_thousand_steps_are_drawn_with_few_points() -> None:
    comparison, runs = example_comparison([replace(HOMOGENEOUS, steps=8_000, launches=2)])

    figure = make_figure("step_time", comparison, runs)

    points = sum(
        len(np.asarray(line.get_xdata())) for axes in figure.axes for line in axes.lines
    )
    assert points < 5_000


def test_an_unknown_price_is_words_and_no_bar(four: Case) -> None:
    figure = make_figure("cost", *four)

    assert "price unknown" in _texts(figure)
    assert len(figure.axes[0].patches) == 3


def test_without_records_the_figures_say_so(without_records: Case) -> None:
    for name in ("step_time", "distribution"):
        text = " ".join(_texts(make_figure(name, *without_records))).replace("\n", " ")
        assert (
            "No step records of this cluster were given. Pass the records of its runs." in text
        )
    assert "no samples were given" in _texts(make_figure("utilization", *without_records))


def test_utilization_without_system_samples_still_shows_device_and_means(two: Case) -> None:
    comparison, runs = two
    bare = [replace(run, system={}) for run in runs]

    texts = _texts(make_figure("utilization", comparison, bare))

    assert texts.count("no samples were given") == 3
    assert {"7 %", "38 %", "91 %"} <= set(texts)


def test_unknown_utilization_is_called_unknown(two: Case) -> None:
    comparison, runs = two
    clusters = tuple(
        cluster.model_copy(
            update={"utilization": cluster.utilization.model_copy(update={"device": None})}
        )
        for cluster in comparison.clusters
    )

    figure = make_figure(
        "utilization", comparison.model_copy(update={"clusters": clusters}), runs
    )

    assert _texts(figure).count("unknown") == 2


@pytest.mark.parametrize("name", FIGURE_NAMES)
def test_no_cluster_at_all_gives_an_empty_figure(name: str, two: Case) -> None:
    nothing = two[0].model_copy(update={"clusters": (), "pairs": ()})

    assert make_figure(name, nothing, []).axes


@pytest.mark.parametrize(
    "name", ["$\\frac{$", "_hidden", "\u65e5\u672c\u8a9e \U0001f680", "a\x00\ud800\u202eb", ""]
)
def test_any_name_is_drawn_as_text(name: str) -> None:
    comparison, runs = example_comparison()
    clusters = tuple(
        cluster.model_copy(update={"name": name}) for cluster in comparison.clusters
    )
    hostile = comparison.model_copy(update={"clusters": clusters})

    for figure_name in ("distribution", "cost"):
        figure = make_figure(figure_name, hostile, runs)
        assert rendered(figure, LIGHT, "svg").startswith(b"<?xml")


def test_an_unknown_figure_is_refused_with_the_known_ones(two: Case) -> None:
    with pytest.raises(ValueError, match=r"no figure 'pie'. Choose among overview, step_time"):
        make_figure("pie", *two)


def test_light_and_dark_differ_only_in_colour(two: Case) -> None:
    light = make_figure("cost", *two, theme=LIGHT)
    dark = make_figure("cost", *two, theme=DARK)

    assert _texts(light) == _texts(dark)
    assert light.get_facecolor() != dark.get_facecolor()


def test_the_users_own_matplotlib_settings_change_nothing(two: Case) -> None:
    import matplotlib as mpl

    plain = rendered(make_figure("cost", *two), LIGHT, "svg")
    with mpl.rc_context({"font.size": 30, "figure.facecolor": "red", "text.usetex": False}):
        styled_by_user = rendered(make_figure("cost", *two), LIGHT, "svg")

    assert styled_by_user == plain


def test_files_are_written_in_three_kinds_and_are_the_same_again(
    two: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(figures_module, "FIGURE_NAMES", ("overview",))
    monkeypatch.setattr(frame_module, "PNG_DPI", 50)

    first = save_figures(*two, tmp_path / "a" / "b")
    again = save_figures(*two, tmp_path / "c")

    assert [path.name for path in first] == [
        "overview.png",
        "overview.svg",
        "overview-dark.png",
    ]
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in again]
    assert b"dc:date" not in first[1].read_bytes()
    assert ET.fromstring(first[1].read_bytes()).tag.endswith("svg")  # noqa: S314  our own file


def test_a_folder_that_cannot_be_written_is_named(
    two: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(figures_module, "rendered", lambda *_: b"image")
    (tmp_path / "file").write_text("in the way", encoding="utf-8")

    with pytest.raises(StoreError, match=r"overview.png' cannot be written: .*Choose a folder"):
        save_figures(*two, tmp_path / "file")


def test_figures_leave_pyplot_alone() -> None:
    code = (
        "import sys, smtc_lab.views.figures.every, smtc_lab.views.report.html;"
        "print('matplotlib.pyplot' in sys.modules)"
    )

    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )

    assert done.stdout.strip() == "False"


def test_what_is_busy_has_the_colours_of_parts_and_not_those_of_clusters(two: Case) -> None:
    figure = make_figure("utilization", *two)

    drawn = {line.get_color() for axes in figure.axes for line in axes.lines}

    assert drawn == {
        LIGHT.part("device").color,
        LIGHT.part("cpu", 0).color,
        LIGHT.part("cpu", 1).color,
    }


def test_one_value_alone_has_no_interval(two: Case) -> None:
    comparison, runs = two
    clusters = tuple(
        cluster.model_copy(
            update={
                "usd_per_1000_steps": Interval(mean=0.5, low=0.5, high=0.5, spread="none"),
                "usd_per_job": Interval(mean=0.5, low=0.5, high=0.5, spread="none"),
            }
        )
        for cluster in comparison.clusters
    )
    alone = comparison.model_copy(update={"clusters": clusters})

    figures = [_bars_with_ends(make_figure("cost", case, runs)) for case in (comparison, alone)]

    assert figures[0] > figures[1] == 0


def _bars_with_ends(figure: Figure) -> int:
    found = [each for axes in figure.axes for each in axes.containers]
    return sum(isinstance(each, ErrorbarContainer) for each in found)
