"""A search of hyperparameters, as JupyterLab shows it: stopped, resumed, on a small page."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from axe_playwright_python.sync_playwright import Axe

from tests.browser.lab_kit import lab_page
from tests.kit.browser.jupyter import command
from tests.kit.tunings import written_search

if TYPE_CHECKING:
    from playwright.sync_api import Browser

    from tests.kit.browser.jupyter import Server

pytest.importorskip("optuna")


def test_a_stopped_search_is_drawn_and_goes_on(server: Server, browser: Browser) -> None:
    study = written_search(server.runs_root, state="Stopped", curves=8)
    with lab_page(server, browser) as page:
        page.evaluate(
            "name => window.jupyterapp.commands.execute('smtc-lab:open', "
            "{ name, kind: 'tuning' })",
            study.name,
        )
        shown = page.locator(".jp-Smtc-main .smtc-tuning")
        shown.get_by_role("img", name="Best loss so far").wait_for()
        shown.get_by_role("button", name="Dollars").click()
        assert "USD spent" in shown.inner_text()
        shown.get_by_role("img", name="8 of 24 trials while they were trained").wait_for()
        found = Axe().run(page, context=".smtc-tuning").response["violations"]
        assert [rule["id"] for rule in found] == []
        command(page, "application:toggle-left-area")
        page.set_viewport_size({"width": 440, "height": 800})  # 360 without the lab's own
        page.wait_for_function(
            "() => document.querySelector('.jp-Smtc-main .smtc-tuning').clientWidth < 380"
        )
        assert shown.evaluate("el => el.scrollWidth <= el.clientWidth")

        shown.get_by_role("button", name="Resume").click()

        page.locator(".jp-Smtc-main .smtc-state-completed").wait_for(timeout=60_000)
        assert "24 of 24 trials ended" in shown.inner_text()
    assert study.status == "Completed"
