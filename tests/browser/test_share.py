"""A shared file in a browser: no server, no network, no script of others; small and dark."""

from __future__ import annotations

import contextlib
import json
import zipfile
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Locator

import smtc_lab as lab
from smtc_lab.launchers.run import Run
from smtc_lab.planner.plan import plan
from smtc_lab.study.comparison.compare import ComparisonOutcome
from tests.kit.calibrations import PATHS, calibration, worker_point
from tests.kit.comparisons import example_comparison
from tests.kit.records import run_records
from tests.kit.run_folders import write_run_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from playwright.sync_api import Browser, Page

HOSTILE = "</script><img src=x onerror=alert(1)><script>alert(2)</script>"
PHONE = 360


def _run(folder: Path) -> Run:
    run = run_records([0.4, *[0.2, 0.21] * 60], state="Failed")
    written = write_run_folder(folder, run, reason=HOSTILE)
    handle = {
        "launcher": "local",
        "job_name": written.job_name,
        "run_folder": str(written.path),
    }
    written.handle_file.write_text(json.dumps(handle), encoding="utf-8")
    return Run.open(str(written.path))


def _comparison(_: Path) -> ComparisonOutcome:
    comparison, runs = example_comparison()
    return ComparisonOutcome(comparison=comparison, runs=tuple(runs))


def _plan(_: Path) -> lab.Plan:
    heavy = calibration(worker_points=tuple(worker_point(0.004, path=path) for path in PATHS))
    return plan(heavy, steps=5000, budget_usd_per_hour=12, families=["p3", "c5", "g5"])


MADE: dict[str, tuple[Callable[[Path], Any], str]] = {
    "run": (_run, ".smtc-run"),
    "comparison": (_comparison, ".smtc-verdict-sentence"),
    "plan": (_plan, ".smtc-plan-point"),
}
"""What makes each kind of result, and what its view holds."""


@pytest.fixture(scope="module")
def files(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Path]]:
    """Return a shared file of each kind, with the front end as it is built now."""
    folder = tmp_path_factory.mktemp("shared")
    with zipfile.ZipFile(wheel) as archive, pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            "smtc_lab.views.share.page.built_front_end",
            lambda name: archive.read(f"smtc_lab/views/static/{name}").decode(),
        )
        yield {
            kind: lab.share(make(folder / kind), folder / f"{kind}.html")
            for kind, (make, _) in MADE.items()
        }


@dataclass
class Seen:
    """What a page did that a file of a result must not do."""

    asked: list[str] = field(default_factory=list)
    said: list[str] = field(default_factory=list)


@contextlib.contextmanager
def opened(
    browser: Browser,
    path: Path,
    *,
    theme: Literal["dark", "light"] = "light",
    width: int = 1280,
    has_scripts: bool = True,
) -> Iterator[tuple[Page, Seen]]:
    """Open a file with no network, and check at the end that it asked and said nothing."""
    context = browser.new_context(
        color_scheme=theme,
        java_script_enabled=has_scripts,
        offline=True,
        viewport={"width": width, "height": 800},
    )
    page, seen = context.new_page(), Seen()
    page.on("request", lambda request: seen.asked.append(request.url))
    page.on("console", lambda message: seen.said.append(message.text))
    page.on("pageerror", lambda error: seen.said.append(str(error)))
    page.on("dialog", lambda dialog: seen.said.append(dialog.message) or dialog.dismiss())
    page.goto(path.as_uri())
    try:
        yield page, seen
        assert [url for url in seen.asked if not url.startswith(("data:", "blob:"))] == [
            path.as_uri()
        ]
        assert seen.said == []
    finally:
        context.close()


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("kind", MADE)
def test_a_file_shows_its_view_offline_and_axe_finds_nothing(
    files: dict[str, Path], browser: Browser, kind: str, theme: Literal["dark", "light"]
) -> None:
    with opened(browser, files[kind], theme=theme) as (page, _):
        page.wait_for_selector(MADE[kind][1], state="attached")
        for figure in filter(Locator.is_visible, page.locator("figure").all()):
            figure.scroll_into_view_if_needed()  # a chart is drawn once it is seen
        found = Axe().run(page).response["violations"]
        background = page.evaluate("() => getComputedStyle(document.body).backgroundColor")

    assert [
        (rule["id"], rule["impact"], [node["html"][:160] for node in rule["nodes"]][:3])
        for rule in found
    ] == []
    assert background == ("rgb(255, 255, 255)" if theme == "light" else "rgb(20, 23, 28)")


@pytest.mark.parametrize("kind", MADE)
def test_a_phone_shows_it_without_scrolling_sideways(
    files: dict[str, Path], browser: Browser, kind: str
) -> None:
    with opened(browser, files[kind], width=PHONE) as (page, _):
        page.wait_for_selector(MADE[kind][1], state="attached")

        widths = page.evaluate(
            "() => [document.documentElement.scrollWidth, document.body.scrollWidth]"
        )

    assert max(widths) <= PHONE


def test_its_charts_are_interactive(files: dict[str, Path], browser: Browser) -> None:
    with opened(browser, files["comparison"]) as (page, _):
        chart = page.get_by_role("figure", name="Step time").first
        chart.get_by_role("button", name="Show as a table").click()

        chart.get_by_role("row", name="homogeneous (emulated)").wait_for()
        page.get_by_role("button", name="Single rounds").first.click()
        chart.get_by_role("button", name="Show as a table").click()
        chart.get_by_role("row", name="homogeneous, round 1").wait_for()
        assert not page.get_by_role("button", name="Stop").is_visible()


def test_its_numbers_can_be_saved_from_it(files: dict[str, Path], browser: Browser) -> None:
    with opened(browser, files["comparison"]) as (page, _):
        with page.expect_download() as saved:
            page.get_by_role("button", name="Save as JSON").click()

        assert "verdict" in json.loads(saved.value.path().read_text(encoding="utf-8"))


@pytest.mark.parametrize("figure", ["Step time", "Where the money goes"])
def test_its_figures_can_be_saved_from_it(
    files: dict[str, Path], browser: Browser, figure: str
) -> None:
    begins = {"PNG": b"\x89PNG\r\n", "SVG": b"<svg xmlns=", "CSV": b""}
    with opened(browser, files["comparison"]) as (page, _):
        shown = page.get_by_role("figure", name=figure).first
        shown.scroll_into_view_if_needed()
        shown.get_by_role("button", name="Save as PNG, SVG or CSV").click()
        for kind, begin in begins.items():
            with page.expect_download() as saved:
                shown.get_by_role("button", name=f"Save as {kind}", exact=True).click()

            content = saved.value.path().read_bytes()
            assert saved.value.suggested_filename.endswith(f".{kind.lower()}")
            assert content.startswith(begin)
            assert b"homogeneous" in content or kind == "PNG"


def test_its_card_can_be_saved_from_it(files: dict[str, Path], browser: Browser) -> None:
    with opened(browser, files["comparison"]) as (page, _):
        with page.expect_download() as saved:
            page.get_by_role("button", name="Save picture").click()

        content = saved.value.path().read_bytes()

    width, height = (int.from_bytes(content[at : at + 4], "big") for at in (16, 20))
    assert (content[:4], width, height) == (b"\x89PNG", 2400, 1260)


def test_texts_of_others_stay_texts(files: dict[str, Path], browser: Browser) -> None:
    with opened(browser, files["run"]) as (page, _):
        page.wait_for_selector(".smtc-run", state="attached")

        assert page.locator("img").count() == 0
        assert HOSTILE in page.locator("main").inner_text()


LEAKS = """async () => {
  const image = new Image();
  const failed = await Promise.allSettled([
    fetch('https://example.invalid/'),
    fetch('data:,x'),
    new Promise((_, reject) => {
      image.onerror = () => reject(new Error('refused'));
      image.src = 'https://example.invalid/x.png';
    })
  ]);
  const script = document.createElement('script');
  script.textContent = 'window.wasRun = true';
  document.body.append(script);
  return [window.wasRun === true, ...failed.map(({ status }) => status)];
}"""


def test_even_a_script_that_got_in_could_send_nothing(
    files: dict[str, Path], browser: Browser
) -> None:
    with opened(browser, files["comparison"]) as (page, seen):
        done = page.evaluate(LEAKS)

        assert done == [False, "rejected", "rejected", "rejected"]
        assert len([text for text in seen.said if "Content Security Policy" in text]) >= 3
        # what the policy stops is reported, too
        assert seen.asked[1:] in ([], ["https://example.invalid/x.png"])
        del seen.asked[1:]
        seen.said.clear()


@pytest.mark.parametrize("kind", MADE)
def test_a_browser_that_runs_no_script_shows_the_numbers(
    files: dict[str, Path], browser: Browser, kind: str
) -> None:
    with opened(browser, files[kind], has_scripts=False) as (page, _):
        text = page.locator("noscript pre").inner_text()

    assert len(text.splitlines()) > 3


def test_it_can_be_printed_and_is_light_on_paper(
    files: dict[str, Path], browser: Browser
) -> None:
    with opened(browser, files["comparison"], theme="dark") as (page, _):
        page.emulate_media(media="print", color_scheme="light")

        assert page.get_by_role("button", name="Save as JSON").count() == 0
        ink = "() => getComputedStyle(document.querySelector('h1')).color"
        assert page.evaluate(ink) == "rgb(31, 35, 40)"
        assert page.pdf().startswith(b"%PDF")
