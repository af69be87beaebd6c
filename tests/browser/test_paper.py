"""What a notebook keeps, on paper: nothing can be scrolled there."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from smtc_lab.study.comparison.compare import ComparisonOutcome
from smtc_lab.views.display import to_html
from smtc_lab.views.figures.drawing import Picture
from smtc_lab.views.plan.bundle import plan_html
from smtc_lab.views.run_list import RunList
from tests.kit.comparison_runs import HETEROGENEOUS, example_job
from tests.kit.comparisons import example_comparison
from tests.kit.plans import example_plan
from tests.kit.records import run_records
from tests.kit.run_folders import write_run_folder

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, Page

PAPER_PX = 598
"""Width of an output in nbconvert's PDF, in CSS pixels."""

FONTS = {
    "usual": "14px sans-serif",
    "wide": "14px monospace; letter-spacing: .25em",
    "large": "20px sans-serif; letter-spacing: .1em",
}
"""The last two are wider than any font, so that it does not matter which ones there are."""

WIDE = """() => [...document.querySelectorAll('*')]
  .filter(element => element.scrollWidth > element.clientWidth + 1 && element.clientWidth > 0)
  .map(element => `${element.tagName} ${element.textContent.trim().slice(0, 60)}`)"""


@pytest.fixture(scope="module")
def paper(browser: Browser) -> Iterator[Page]:
    page = browser.new_page(viewport={"width": PAPER_PX, "height": 1000})
    page.emulate_media(media="print")
    yield page
    page.close()


def _outcome(_: Path) -> str:
    comparison, runs = example_comparison()
    return ComparisonOutcome(comparison=comparison, runs=tuple(runs))._repr_html_()


def _run(folder: Path) -> str:
    return to_html(SimpleNamespace(folder=write_run_folder(folder, run_records([0.2] * 99))))


def _run_list(_: Path) -> str:
    cluster = "heterogeneous@dnn_group=ml.p3.2xlarge:1,data_group=ml.c5.9xlarge:1"
    row = {
        "job_name": "digits-heterogeneous-r1-1122-051122-321",
        "cluster": cluster,
        "state": "InProgress",
        "started_s": 1.0,
        "ended_s": None,
    }
    return RunList(rows=(row,), root=Path("/runs"), begin_with="%%smtc")._repr_html_()


@pytest.mark.parametrize("font", FONTS)
@pytest.mark.parametrize(
    "made",
    [
        lambda _: example_job(HETEROGENEOUS)._repr_html_(),
        lambda _: plan_html(
            example_plan(), picture=Picture(png=b"\x89PNG", width=800, height=400)
        ),
        _outcome,
        _run,
        _run_list,
    ],
    ids=["job", "plan", "comparison", "run", "runs"],
)
def test_nothing_is_cut_off_on_paper(
    paper: Page, tmp_path: Path, made: object, font: str
) -> None:
    assert callable(made)
    paper.set_content(f"<body style='margin: 0; font: {FONTS[font]}'>{made(tmp_path)}")

    assert paper.evaluate(WIDE) == []


def test_words_are_broken_only_where_there_is_no_room_for_them(
    paper: Page, tmp_path: Path
) -> None:
    broken = """word => {
      const range = document.createRange();
      const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
      while (texts.nextNode()) {
        const start = texts.currentNode.data.indexOf(word);
        if (start < 0) continue;
        range.setStart(texts.currentNode, start);
        range.setEnd(texts.currentNode, start + word.length);
        return range.getClientRects().length > 1;
      }
    }"""

    def is_broken(style: str) -> object:
        paper.set_content(f"<body style='margin: 0; {style}'>{_run_list(tmp_path)}")
        return paper.evaluate(broken, "Running")

    assert is_broken("font: 10px sans-serif") is False
    assert is_broken("font: 10px sans-serif; letter-spacing: 3em") is True
