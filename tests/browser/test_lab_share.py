"""A run in JupyterLab, saved as one HTML file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tests.browser.lab_kit import Runs, lab_page, show_runs

if TYPE_CHECKING:
    from playwright.sync_api import Browser

    from tests.kit.browser.jupyter import Server


def test_a_run_is_saved_as_a_file_that_shows_it(server: Server, browser: Browser) -> None:
    runs = Runs(server)
    name = runs.start(max_steps=5)
    runs.await_end(name)

    with lab_page(server, browser) as page:
        show_runs(page)
        page.locator(".jp-Smtc-row", has_text=name).click()
        with page.expect_download() as download:
            page.locator(".jp-Smtc-actions button", has_text="Share").click()

        assert download.value.suggested_filename == f"{name}.html"
        text = Path(download.value.path()).read_text(encoding="utf-8")
        assert name in text
        assert text.startswith("<!doctype html>")
