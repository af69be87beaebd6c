"""The designer on a phone, in each theme and in German: editor, ladder, all clusters."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from axe_playwright_python.sync_playwright import Axe

from smtc_lab.views.code.set_ups import first_jobs
from tests.browser.lab_kit import lab_page, set_theme, speak
from tests.kit.browser.jupyter import Window, command
from tests.kit.calibrations import keep_calibration
from tests.kit.compilers import example_compilers
from tests.kit.kept_compilers import keep_compilers

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page, Request

    from tests.kit.browser.jupyter import Server

PHONE = Window(width=360)
DESK = Window()
LIGHT = "JupyterLab Light"
DARK = "JupyterLab Dark"
CHART = ".smtc-cluster-chart"
HEADINGS = {
    "en": "All clusters on real instances: time against cost",
    "de_DE": "Alle Cluster auf echten Instanzen: Zeit gegen Kosten",
}
OUTSIDE = """chart => {
  const frame = chart.querySelector('.smtc-plan-chart > svg').getBoundingClientRect();
  return [...chart.querySelectorAll('.smtc-plan-chart > svg text')]
    .filter(text => {
      const { left, right, top, bottom } = text.getBoundingClientRect();
      return left < frame.left - 1 || right > frame.right + 1
        || top < frame.top - 1 || bottom > frame.bottom + 1;
    })
    .map(text => text.textContent);
}"""
CUT_OFF = """part => [part, ...part.querySelectorAll('*')]
  .filter(each => each === part || getComputedStyle(each).overflowX !== 'visible')
  .filter(each => each.scrollWidth > each.clientWidth + 1 && each.clientWidth > 1)
  .filter(each => !each.closest('.smtc-plan-table, pre, svg, .smtc-sr, select, input'))
  .map(each => each.className)"""


@pytest.fixture(scope="module")
def server(german_server: Server) -> Server:
    """Return one that also speaks German, and knows what the first set-ups do."""
    comparison, runs = example_compilers()
    first = first_jobs()[0]
    keep_calibration(first, german_server.runs_root)
    keep_compilers(
        comparison,
        list({run.label: run.job for run in runs}.values()),
        first.entry_point,
        hyperparameters=first.hyperparameters,
        root=german_server.runs_root,
    )
    return german_server


def designer(page: Page) -> None:
    """Open the designer with all the room that there is."""
    page.evaluate("() => window.jupyterapp.shell.collapseLeft()")
    command(page, "smtc-lab:open-designer")
    page.wait_for_selector(".smtc-workbench", timeout=60_000)


def broken_rules(page: Page, part: str) -> list[str]:
    found = Axe().run(page, context=part).response["violations"]
    return [rule["id"] for rule in found]


@pytest.mark.parametrize("window", [DESK, PHONE], ids=["1280px", "360px"])
def test_the_ladder_stands_beside_the_compiler_settings(
    server: Server, browser: Browser, window: Window
) -> None:
    with lab_page(server, browser, window=window) as page:
        designer(page)
        card = page.locator(".smtc-set-up").first
        part = card.locator("summary").get_by_text("Compiler", exact=True)
        part.focus()
        part.press("Enter")
        ladder = card.locator(".smtc-ladder")
        ladder.get_by_text("What each setting brought").wait_for()
        fused = ladder.locator("li", has_text="Fused optimizer")
        told = fused.locator(".smtc-rung", has_text="off → on")
        told.get_by_text("steps take 15").wait_for(timeout=60_000)
        ladder.get_by_text("Measured 2026-11-03 in").first.wait_for()

        assert ladder.evaluate(CUT_OFF) == []
        assert broken_rules(page, ".smtc-ladder") == []


def test_the_undo_of_the_designer_outlives_a_reload(server: Server, browser: Browser) -> None:
    def is_saved(request: Request) -> bool:
        told = str(request.post_data).replace("\\", "").replace(" ", "")
        return "/api/workspaces/" in request.url and '"past":[[{' in told

    with server.page(browser, "lab/workspaces/undone") as page:
        page.wait_for_selector(".jp-Launcher")
        designer(page)
        count = page.get_by_role("slider", name="Instances of data_group")
        count.focus()
        with page.expect_request_finished(is_saved):
            count.press("ArrowUp")
        page.reload()
        await_count(count, 2)
        page.get_by_role("button", name="Undo", exact=True).click()
        await_count(count, 1)
        page.get_by_role("button", name="Redo", exact=True).click()
        await_count(count, 2)


def await_count(handle: Locator, count: int) -> None:
    handle.and_(handle.page.locator(f"[aria-valuenow='{count}']")).wait_for()


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_the_picture_is_edited_on_a_phone_with_nothing_cut_off(
    server: Server, browser: Browser, theme: str
) -> None:
    with lab_page(server, browser, window=PHONE) as page:
        set_theme(page, theme)
        designer(page)
        picture = page.locator(".smtc-picture").nth(1)
        page.wait_for_function(
            "part => part.scrollWidth <= part.clientWidth",
            arg=picture.locator(".smtc-scroll").element_handle(),
        )
        assert picture.evaluate(CUT_OFF) == []
        handle = picture.get_by_role("slider", name="Instances of data_group")
        drag(page, handle, 45)
        await_count(handle, 2)


def drag(page: Page, handle: Locator, by: int) -> None:
    """Drag a handle down by so many pixels."""
    handle.scroll_into_view_if_needed()
    place = handle.bounding_box()
    assert place is not None
    x, y = place["x"] + place["width"] / 2, place["y"] + place["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x, y + by)
    page.mouse.up()


@pytest.mark.parametrize(
    ("locale", "window", "theme"),
    [
        ("en", DESK, LIGHT),
        ("en", DESK, DARK),
        ("en", PHONE, LIGHT),
        ("de_DE", DESK, LIGHT),
        ("de_DE", PHONE, DARK),
    ],
    ids=["light", "dark", "360px", "German", "German-360px-dark"],
)
def test_the_chart_of_all_clusters_is_whole_in_every_look(
    server: Server, browser: Browser, locale: str, window: Window, theme: str
) -> None:
    speak(server, locale)
    with lab_page(server, browser, window=window) as page:
        set_theme(page, theme)
        designer(page)
        chart = page.locator(CHART)
        chart.locator(".smtc-plan-set-up").first.wait_for(timeout=60_000)
        chart.scroll_into_view_if_needed()
        page.wait_for_function(
            """part => {
              const drawn = part.querySelector('.smtc-plan-chart > svg');
              return Math.abs(drawn.clientWidth - drawn.parentElement.clientWidth) <= 1;
            }""",
            arg=chart.element_handle(),
        )

        assert chart.locator("summary").first.inner_text() == HEADINGS[locale]
        assert chart.evaluate(OUTSIDE) == []
        assert chart.evaluate(CUT_OFF) == []
        assert broken_rules(page, CHART) == []
