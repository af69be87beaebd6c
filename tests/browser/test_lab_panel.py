"""The list of runs in JupyterLab: by mouse, by keys, for everybody, and where it is missing."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from axe_playwright_python.sync_playwright import Axe

from smtc_lab.spec.cluster import Cluster
from tests.browser.lab_kit import (
    CHART,
    Runs,
    lab_page,
    open_dashboard,
    set_theme,
    show_runs,
)
from tests.kit.browser.jupyter import Window

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.sync_api import Browser, Page, Route

    from tests.kit.browser.jupyter import Server

HOSTILE = "</script><img src=x onerror=window.__hit=1>"
DARK = "JupyterLab Dark"
LIGHT = "JupyterLab Light"
HIGH_CONTRAST = "JupyterLab Dark High Contrast"


@pytest.fixture(scope="module")
def runs(server: Server) -> Runs:
    return Runs(server)


@pytest.fixture(scope="module")
def live(runs: Runs) -> str:
    """Return the name of a run that stays live, with a hostile text wherever one can be."""
    cluster = Cluster.parse("here@group=local:1").model_copy(update={"name": HOSTILE})
    return runs.start(cluster=cluster, hyperparameters={"text": HOSTILE})


def test_a_run_is_opened_and_stopped_by_mouse_alone(
    server: Server, browser: Browser, runs: Runs
) -> None:
    name = runs.start()

    with lab_page(server, browser) as page:
        page.locator(".jp-LauncherCard", has_text="Training Runs").click()
        row = page.locator(".jp-Smtc-row", has_text=name)
        row.dblclick()
        page.wait_for_selector(CHART)
        page.locator(".jp-Smtc-price", has_text="running").wait_for()
        page.locator(".jp-Smtc-actions button", has_text="Stop").click()
        page.locator(".jp-Dialog button", has_text="Stop it").click()
        page.locator(".jp-Smtc-row:not([data-state=live])", has_text=name).wait_for()
        page.locator(".jp-Smtc-main .smtc-badge", has_text="Stopped").wait_for()


def test_a_run_is_opened_and_stopped_by_keys_alone(
    server: Server, browser: Browser, runs: Runs
) -> None:
    name = runs.start()  # the newest, so the first

    with lab_page(server, browser) as page:
        show_runs(page)
        page.locator(".jp-Smtc-row", has_text=name).wait_for()
        page.wait_for_selector(".jp-Smtc-list:focus")
        page.keyboard.press("Home")
        page.keyboard.press("Enter")
        page.wait_for_selector(CHART)
        show_runs(page)
        page.wait_for_selector(".jp-Smtc-list:focus")
        page.keyboard.press("Delete")
        page.wait_for_selector(".jp-Dialog")
        page.keyboard.press("Enter")
        page.locator(".jp-Smtc-row:not([data-state=live])", has_text=name).wait_for()


def test_each_theme_is_followed_at_once_and_is_readable(
    server: Server, browser: Browser, live: str
) -> None:
    ink = "() => getComputedStyle(document.querySelector('.jp-Smtc-main .smtc-run')).color"

    with lab_page(server, browser) as page:
        show_runs(page)
        open_dashboard(page, live)
        found, inks = [], []
        for theme in (LIGHT, DARK, HIGH_CONTRAST):
            found += axe(page, theme)
            inks.append(page.evaluate(ink))

    assert found == []
    assert inks[0] != inks[1]


@pytest.mark.parametrize(
    "window",
    [Window(width=360), Window(zoom=2.0, has_reduced_motion=True)],
    ids=["360px", "200%"],
)
def test_nothing_is_cut_off_and_nothing_moves(
    server: Server, browser: Browser, live: str, window: Window
) -> None:
    with lab_page(server, browser, window=window) as page:
        show_runs(page)
        page.locator(".jp-Smtc-row", has_text=live).wait_for()
        panel = cut_off(page, ".jp-Smtc-panel")
        page.evaluate("() => window.jupyterapp.shell.collapseLeft()")
        open_dashboard(page, live)

        assert panel + cut_off(page, ".jp-Smtc-main") == []
        if window.has_reduced_motion:
            assert page.evaluate("() => document.getAnimations().length") == 0


def test_hostile_names_are_text(server: Server, browser: Browser, live: str) -> None:
    with lab_page(server, browser) as page:
        show_runs(page)
        open_dashboard(page, live)
        page.get_by_text("onerror").first.wait_for()

        assert page.evaluate("() => window.__hit") is None
        assert page.locator("[class^=smtc] img, [class*=Smtc] img").count() == 0


def test_the_panel_says_what_is_missing_and_what_mends_it(
    server: Server, browser: Browser, live: str
) -> None:
    # what answers, what is said, and the command that mends it
    cases = [
        (404, None, "is not running", "jupyter server extension enable"),
        (403, None, "no right", None),
        (200, {"version": "9.9.9", "protocol": 9}, "9.9.9", "jupyter labextension list"),
    ]
    with lab_page(server, browser) as page:
        page.route("**/smtc-lab/api/info*", lambda route: route.abort())
        page.reload()
        page.wait_for_selector(".jp-Launcher")
        show_runs(page)
        problem = page.locator(".jp-Smtc-problem")
        problem.get_by_text("does not answer").wait_for()
        again = problem.locator("button", has_text="Try again")
        for status, info, words, mends in cases:
            # before the one that stands: a true answer between the two would end the problem
            page.route("**/smtc-lab/api/info*", answering(status, info))
            again.click()
            problem.get_by_text(words).wait_for()
            assert problem.locator("code", has_text=mends or "").count() == bool(mends)
        page.unroute("**/smtc-lab/api/info*")
        again.click()
        page.locator(".jp-Smtc-row", has_text=live).wait_for()
        assert not problem.is_visible()


def answering(status: int, info: object) -> Callable[[Route], None]:
    return lambda route: route.fulfill(status=status, body=json.dumps(info))


def axe(page: Page, theme: str) -> list[object]:
    """Return what is wrong in a theme, and seriously so."""
    set_theme(page, theme)
    return [
        (theme, rule["id"], [node["html"][:120] for node in rule["nodes"]][:3])
        for part in (".jp-Smtc-panel", ".jp-Smtc-main", ".jp-Smtc-price")
        for rule in Axe().run(page, context=part).response["violations"]
        if rule["impact"] in {"serious", "critical"}
    ]


def cut_off(page: Page, part: str) -> list[str]:
    """Return what is wider than its place."""
    wide: list[str] = page.evaluate(
        """part => [document.querySelector(part), ...document.querySelectorAll(`${part} .smtc`)]
          .filter(element => element.scrollWidth > element.clientWidth + 1)
          .map(element => element.className)""",
        part,
    )
    return wide
