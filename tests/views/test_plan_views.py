"""What is shown of a plan: words, table, figure, and what a notebook keeps."""

from __future__ import annotations

import base64
import json
from dataclasses import replace
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from smtc_lab.planner.plan import Plan, plan
from smtc_lab.views.figures.theme import DARK, LIGHT
from smtc_lab.views.plan import display as plan_display
from smtc_lab.views.plan.bundle import PLAN_MIME, bundle_of, info_bundle
from smtc_lab.views.plan.describer import MOST_POINTS, describe_plan, shown_candidates
from smtc_lab.views.plan.figures import plan_figure, write_plan_figure
from smtc_lab.views.plan.words import (
    error_words,
    measured_sentence,
    plan_text,
    table_cells,
)
from tests.kit.calibrations import PATHS, calibration, worker_point
from tests.kit.hostile import HOSTILE_TEXTS, markup_of
from tests.kit.plans import example_plan, example_point

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from smtc_lab.display import PlanDisplayed
    from smtc_lab.views.plan.info import Evidence
    from tests.kit.golden_texts import GoldenTexts

FIXTURE = Path(__file__).parents[1] / "fixtures" / "plan_info.json"
INERT = {"div", "em", "span", "strong"} | {
    f"@{name}" for name in ("aria-label", "class", "role", "style", "tabindex")
}


@pytest.fixture(scope="module")
def made() -> Plan:
    heavy = calibration(
        worker_points=tuple(worker_point(0.004, path=path) for path in PATHS),
        problems=("The network was not measured.",),
    )
    return plan(heavy, steps=5000, budget_usd_per_hour=60, families=["p3", "c5", "g5"])


def texts_of(figure: Figure) -> str:
    texts = [text.get_text() for axes in figure.axes for text in axes.texts]
    titles = [axes.get_title(loc="left") for axes in figure.axes]
    return "\n".join([*texts, *titles])


def test_the_browser_reads_the_same_plan() -> None:
    written = json.loads(FIXTURE.read_text(encoding="utf-8"))

    assert written == json.loads(json.dumps(example_plan().as_dict()))


def test_a_plan_is_described_with_its_front_its_limits_and_what_was_left_out(
    made: Plan,
) -> None:
    info = describe_plan(made)

    assert info.limits == "5,000 steps, at most $60.00/h, families p3, c5, g5"
    assert made.cheapest.cluster.instance_groups[0].instance_type in info.sentence
    assert sum(point.is_pareto for point in info.points) == len(made.front)
    assert {name for point in info.points for name in point.names} == {
        "best",
        "cheapest",
        "fastest",
        "knee",
    }
    assert [point.step_time_s.value for point in info.points] == sorted(
        point.step_time_s.value for point in info.points
    )
    assert "The network was not measured." in info.notes


def test_one_device_time_for_accelerators_of_several_kinds_is_an_assumption() -> None:
    families = ["p3", "c5", "g5"]
    one = describe_plan(plan(calibration(), families=families)).basis
    given = describe_plan(plan(calibration(), device_s="0.01", families=families)).basis
    alone = describe_plan(plan(calibration(), families=["p3", "c5"])).basis
    named = calibration(device_times={"NVIDIA V100": 0.01})
    only = describe_plan(plan(named, families=families)).basis

    for basis in (one, given):
        assert "One device time is taken for accelerators of all 2 kinds" in basis
        assert "--device-time V100=SECONDS,T4=SECONDS" in basis
    assert "One device time" not in alone
    assert "One device time" not in only
    assert "Declared for each accelerator: NVIDIA V100 10 ms a step." in only


def test_named_clusters_are_explained_and_have_code_that_launches_them(made: Plan) -> None:
    named = [point for point in describe_plan(made).points if point.names]

    for point in named:
        assert "-bound" in point.explanation or "Bound by" in point.explanation
        assert "lab.TrainingJob(" in point.code
        compile(point.code, "cell", "exec")


def test_only_so_many_clusters_are_drawn_and_the_front_is_among_them(made: Plan) -> None:
    shown = shown_candidates(made)

    assert len(shown) <= MOST_POINTS
    assert all(any(one is point for point in shown) for one in made.pareto)


def test_the_text_of_a_plan_fits_a_terminal(made: Plan) -> None:
    text = plan_text(describe_plan(made))

    table = [line for line in text.splitlines() if line.startswith("1 \u00d7 ")]
    assert table
    assert all(len(line) <= 130 for line in table)
    assert all(note in " ".join(text.split()) for note in describe_plan(made).notes)


def test_a_plan_in_words(golden_texts: GoldenTexts) -> None:
    info = example_plan()
    bare = tuple(replace(point, job_s=None, usd_per_job=None) for point in info.points)
    unpriced = example_point("1 \u00d7 ml.p3.8xlarge", step_s=0.2, usd_per_hour=None)
    (run,) = info.measured
    growing = replace(run, has_ended=False, error_fraction=0.021)

    golden_texts(
        "plan",
        {
            "old prices, start-up in the costs": plan_text(info),
            "no costs of jobs": plan_text(replace(info, points=bare)),
            "no price": " | ".join(table_cells(unpriced)),
            "a run": f"{measured_sentence(run)}\n{error_words(run)}",
            "a growing run": measured_sentence(growing),
            "figure": texts_of(plan_figure(info)),
            "figure without prices": texts_of(
                plan_figure(replace(example_plan(measured=False), points=(unpriced,)))
            ),
        },
    )


def test_light_and_dark_tell_the_same() -> None:
    light, dark = (plan_figure(example_plan(), theme=theme) for theme in (LIGHT, DARK))

    assert texts_of(light) == texts_of(dark)


@pytest.mark.parametrize(
    ("limits", "labels", "keys"),
    [
        ({}, ("seconds per step", "USD per 1,000 steps"), ["budget: $60.00/h"]),
        (
            {"deadline_s": 7200.0},
            ("seconds per job", "USD per 1,000 steps"),
            ["deadline: 2 h"],
        ),
        (
            {"deadline_s": 7200.0, "budget_usd": 20.0},
            ("seconds per job", "USD per job"),
            ["deadline: 2 h", "budget: $20.00", "budget: $60.00/h"],
        ),
    ],
)
def test_limits_are_lines_on_axes_of_their_own_kind(
    limits: dict[str, float], labels: tuple[str, str], keys: list[str]
) -> None:
    figure = plan_figure(replace(example_plan(), **limits))  # type: ignore[arg-type]

    chart = figure.axes[0]
    assert (chart.get_xlabel(), chart.get_ylabel()) == labels
    assert chart.get_legend_handles_labels()[1] == keys


def test_the_figure_is_written_as_its_name_says(tmp_path: Path) -> None:
    for name, begin in (("a.png", b"\x89PNG"), ("a.svg", b"<?xml")):
        write_plan_figure(example_plan(), tmp_path / name)

        assert (tmp_path / name).read_bytes().startswith(begin)


def test_a_notebook_keeps_a_plan_as_json_html_picture_and_text(
    made: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SMTC_LAB_HOME", str(tmp_path))
    bundle = bundle_of(made)

    assert set(bundle) == {PLAN_MIME, "text/html", "image/png", "text/plain"}
    assert bundle[PLAN_MIME] == describe_plan(made).as_dict()
    assert base64.b64decode(bundle["image/png"]).startswith(b"\x89PNG")
    assert markup_of(bundle["text/html"]) <= INERT
    assert "best, cheapest" in bundle["text/html"]
    assert len(json.dumps(bundle[PLAN_MIME])) < 300_000


def test_names_of_users_are_text_in_html() -> None:
    for text in HOSTILE_TEXTS:
        info = replace(example_plan(), sentence=text, notes=(text,), basis=text)

        assert markup_of(info_bundle_html(info)) <= INERT, text


def info_bundle_html(info: object) -> str:
    from smtc_lab.views.figures.drawing import Picture
    from smtc_lab.views.plan.bundle import plan_html

    return plan_html(info, picture=Picture(png=b"", width=1, height=1))  # type: ignore[arg-type]


@pytest.mark.parametrize("evidence", ["predicted", "extrapolated", "estimated"])
def test_a_plan_says_what_its_best_cluster_rests_on(evidence: Evidence) -> None:
    info = example_plan()
    points = tuple(replace(point, evidence=evidence) for point in info.points)

    assert f"<em>{evidence}</em>" in info_bundle_html(replace(info, points=points))


def test_the_bundle_of_what_is_shown_needs_no_calibration() -> None:
    assert set(info_bundle(example_plan())) == {
        PLAN_MIME,
        "text/html",
        "image/png",
        "text/plain",
    }


def test_parts_of_a_plan_are_shown_too(made: Plan) -> None:
    best = made.best

    of_best = html_of(best)
    assert escape(best.explain()) in of_best
    assert "busy" in html_of(best.candidate)
    assert "predicted: " in html_of(best.prediction)
    assert "$/1,000 steps" in made._repr_html_()
    assert set(made._repr_mimebundle_()) >= {PLAN_MIME, "text/html", "image/png"}


def test_what_is_no_part_of_a_plan_is_refused_by_name(made: Plan) -> None:
    with pytest.raises(TypeError, match="'Calibration' is no part of a plan"):
        plan_display.to_html(made.calibration)


def html_of(obj: PlanDisplayed) -> str:
    html = obj._repr_html_()
    assert markup_of(html) == {"pre"}
    return html
