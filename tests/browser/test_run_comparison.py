"""Runs that were never planned together, in a tab of JupyterLab."""

from __future__ import annotations

from typing import TYPE_CHECKING

from axe_playwright_python.sync_playwright import Axe

from tests.browser.lab_kit import lab_page
from tests.views.test_run_comparison import written

if TYPE_CHECKING:
    from playwright.sync_api import Browser

    from tests.kit.browser.jupyter import Server

_COMMAND = "names => window.jupyterapp.commands.execute('smtc-lab:compare-runs', { names })"


def test_runs_are_compared_in_a_tab_and_one_alone_is_refused_kindly(
    server: Server, browser: Browser
) -> None:
    names = ["digits-1", "digits-2", "digits-3"]
    for place, name in enumerate(names):
        values = {"lr": 0.1 * (place + 1)}
        logged = {"loss": [2.0, 1.0 / (place + 1)]} if place < 2 else {}
        written(server.runs_root, name, logged, hyperparameters=values)

    with lab_page(server, browser) as page:
        page.evaluate(_COMMAND, names)
        view = page.locator(".smtc-compared")
        view.get_by_text("3 runs; they differ in lr.").wait_for()
        view.get_by_text("they did not log it: C.").wait_for()
        view.get_by_label("Horizontally").select_option("less")
        view.get_by_label("Vertically").select_option("less")
        assert view.locator(".smtc-compared-ring").count() == 2
        view.locator(".smtc-compared-point").first.focus()
        page.keyboard.press("ArrowRight")
        assert page.evaluate("document.activeElement.ariaLabel").startswith("B 2")
        problems = Axe().run(page, context=".smtc-compared").response["violations"]
        assert [one["id"] for one in problems] == []

        page.evaluate("() => void window.jupyterapp.commands.execute('smtc-lab:compare-runs')")
        page.locator(".jp-Dialog", has_text="two runs or more").wait_for()
