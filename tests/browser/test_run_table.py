"""The table of runs in JupyterLab, by keyboard alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.browser.lab_kit import Runs, lab_page

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

    from tests.kit.browser.jupyter import Server


def shown(page: Page) -> list[str]:
    return page.locator(".smtc-runs-table tbody .smtc-open").all_inner_texts()


def test_runs_are_filtered_sorted_chosen_deleted_and_put_back_by_keyboard(
    server: Server, browser: Browser
) -> None:
    runs = Runs(server)
    names = sorted(runs.start(max_steps=5, job_name=f"table-{letter}") for letter in "abc")
    for name in names:
        runs.await_end(name)

    with lab_page(server, browser) as page:
        page.keyboard.press("Control+Shift+C")
        page.keyboard.type("Table of runs")
        page.keyboard.press("Enter")
        page.locator(".smtc-open", has_text="table-c").wait_for()
        page.locator(".smtc-where").focus()
        page.keyboard.type('name != "table-b" and state == "Completed"')
        page.locator(".smtc-open", has_text="table-b").wait_for(state="detached")
        page.get_by_role("button", name="Run", exact=True).focus()
        page.keyboard.press("Enter")
        page.locator("th[aria-sort=ascending]").wait_for()
        assert shown(page) == ["table-a", "table-c"]

        page.locator('[data-at="choose:run/table-a"]').focus()
        page.keyboard.press("Space")
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Space")
        page.get_by_text("2 chosen").wait_for()
        page.keyboard.press("Delete")
        page.locator(".jp-Dialog").get_by_text("Delete 2 runs?").wait_for()
        page.keyboard.press("Enter")
        page.get_by_text("No run is like this").wait_for()
        assert [row["name"] for row in runs.rows()] == ["table-b"]

        page.get_by_role("button", name="Undo").focus()
        page.keyboard.press("Enter")

        page.locator(".smtc-open", has_text="table-c").wait_for()
        assert shown(page) == ["table-a", "table-c"]
