"""Runs are deleted in JupyterLab, and come back by Undo."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.browser.lab_kit import Runs, lab_page, open_dashboard, show_runs

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page

    from tests.kit.browser.jupyter import Server


@pytest.fixture(scope="module")
def runs(server: Server) -> Runs:
    return Runs(server)


@pytest.fixture
def ended(runs: Runs) -> str:
    """Return the name of a run that has completed."""
    name = runs.start(max_steps=5)
    runs.await_end(name)
    return name


def row_of(page: Page, name: str) -> Locator:
    return page.locator(".jp-Smtc-row:not([hidden])", has_text=name)


def test_delete_asks_for_deletion_and_undo_brings_the_run_back(
    server: Server, browser: Browser, runs: Runs, ended: str
) -> None:
    with lab_page(server, browser) as page:
        show_runs(page)
        open_dashboard(page, ended)
        show_runs(page)
        row_of(page, ended).click()
        assert page.locator(".jp-Smtc-actions button", has_text="Stop").is_hidden()
        page.keyboard.press("Delete")
        dialog = page.locator(".jp-Dialog")
        dialog.get_by_text(f"Delete {ended}?").wait_for()
        assert "Stop" not in dialog.inner_text()
        dialog.locator("button", has_text="Delete it").click()
        row_of(page, ended).wait_for(state="detached")
        page.locator(".jp-Smtc-main", has_text=ended).wait_for(state="detached")
        assert [row["name"] for row in runs.rows() if row["name"] == ended] == []

        page.get_by_role("button", name="Undo").click()

        row_of(page, ended).wait_for()
        assert runs.row(ended)["state"] == "Completed"


def test_a_run_is_deleted_by_mouse_alone_and_kept_when_asked_to(
    server: Server, browser: Browser, runs: Runs, ended: str
) -> None:
    with lab_page(server, browser) as page:
        show_runs(page)
        row_of(page, ended).click()
        page.locator(".jp-Smtc-actions button", has_text="Delete").click()
        page.locator(".jp-Dialog button", has_text="Keep it").click()
        page.locator(".jp-Dialog").wait_for(state="detached")
        assert runs.row(ended)["state"] == "Completed"
        page.locator(".jp-Smtc-actions button", has_text="Delete").click()
        page.locator(".jp-Dialog button", has_text="Delete it").click()

        row_of(page, ended).wait_for(state="detached")


def test_what_goes_on_can_be_stopped_and_not_deleted(
    server: Server, browser: Browser, runs: Runs
) -> None:
    name = runs.start()

    with lab_page(server, browser) as page:
        show_runs(page)
        row_of(page, name).click()
        assert page.locator(".jp-Smtc-actions button", has_text="Delete").is_hidden()
        page.keyboard.press("Delete")

        page.locator(".jp-Dialog", has_text=f"Stop {name}?").wait_for()
