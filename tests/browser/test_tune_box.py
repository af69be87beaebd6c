"""A search of hyperparameters that is asked for in the workbench."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.browser.test_workbench import WORKBENCH, opened

if TYPE_CHECKING:
    from playwright.sync_api import Browser

    from tests.kit.browser.jupyter import Server

pytest.importorskip("optuna")


def test_the_first_set_up_is_searched(server: Server, browser: Browser) -> None:
    notebook = server.write("tune_box.ipynb", [WORKBENCH])

    with server.lab(browser, notebook) as page:
        opened(page)
        page.get_by_text("Which hyperparameters train best?").click()
        box = page.locator(".smtc-tune")
        box.get_by_label("What is searched").fill("lr=log:1e-3..1e-1\nwidth")
        box.get_by_label("Trials in all").fill("2")
        tune = box.get_by_role("button", name="Tune", exact=True)
        tune.click()
        page.get_by_text("The range 'width' is not NAME=LOW..HIGH").first.wait_for()

        box.get_by_label("What is searched").fill("lr=log:1e-3..1e-1")
        tune.click()
        page.locator(".smtc-tuning").get_by_text("2 of 2 trials ended").wait_for(
            timeout=120_000
        )
        page.get_by_role("button", name="Run", exact=True, disabled=False).wait_for()
