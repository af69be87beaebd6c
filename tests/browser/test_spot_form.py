"""The part about interruptions: filled in, forecast and used, in both places of the form."""

from __future__ import annotations

from typing import TYPE_CHECKING

from axe_playwright_python.sync_playwright import Axe

from tests.browser.lab_kit import lab_page, set_theme
from tests.kit.browser.jupyter import Window, command

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page

    from tests.kit.browser.jupyter import Server

WORKBENCH = """
import smtc_lab as lab
workbench = lab.Workbench(rounds=1)
workbench
"""
FIELDS = {
    "Instances last in the mean": "7200",
    "Deadline, seconds": "7000",
    "Spot price of ml.p3.2xlarge": "1.3",
}
TIMES = {"All steps": "3600", "One save": "1", "From an instance": "60"}


def part_of(page: Page) -> tuple[Locator, Locator]:
    """Return the first set-up, and what unfolds its part about interruptions."""
    page.evaluate("() => window.jupyterapp.shell.collapseLeft()")
    page.wait_for_selector(".smtc-workbench", timeout=60_000)
    card = page.locator(".smtc-set-up").first
    return card, card.locator("summary").get_by_text("Interruptions", exact=True)


def test_the_designer_forecasts_and_uses_spot_by_mouse_on_a_phone(
    server: Server, browser: Browser
) -> None:
    with lab_page(server, browser, window=Window(width=400)) as page:
        set_theme(page, "JupyterLab Dark")
        command(page, "smtc-lab:open-designer")
        card, summary = part_of(page)
        summary.click()
        card.get_by_label("Train on spot instances").click()
        wait = card.get_by_label("Longest time until the end")
        wait.fill("5")
        card.locator(".smtc-spot .smtc-problem", has_text="Invalid MaxWaitTime").wait_for()
        wait.fill("")
        card.get_by_role("button", name="Forecast on spot").click()
        card.get_by_text("Enter the spot price: it is not known.").wait_for()
        for label, value in FIELDS.items():
            card.get_by_label(label).fill(value)
        card.get_by_role("button", name="Forecast on spot").click()
        card.get_by_role("alert").get_by_text("No run of").wait_for(timeout=60_000)
        card.locator("summary").get_by_text("Times of the job").click()
        for label, value in TIMES.items():
            card.get_by_label(label).fill(value)
        card.get_by_role("button", name="Forecast on spot").click()
        card.get_by_role("row", name="spot only").wait_for(timeout=60_000)
        card.get_by_role("button", name="Use this: spot only").click()
        card.get_by_text("The job has it now").wait_for()

        assert (wait.input_value(), broken_rules(page)) == ("7000", [])
        assert page.locator(".smtc-spot").evaluate("e => e.scrollWidth <= e.clientWidth")


def broken_rules(page: Page) -> list[str]:
    found = Axe().run(page, context=".smtc-spot").response["violations"]
    return [rule["id"] for rule in found]


def test_a_notebook_forecasts_and_uses_spot_by_keyboard(
    server: Server, browser: Browser
) -> None:
    notebook = server.write("spot_form.ipynb", [WORKBENCH])

    with server.lab(browser, notebook) as page:
        command(page, "notebook:run-cell-and-select-next")
        card, summary = part_of(page)
        summary.focus()
        page.keyboard.press("Enter")
        card.get_by_label("Train on spot instances").wait_for(timeout=60_000)
        for label, value in FIELDS.items():
            card.get_by_label(label).focus()
            page.keyboard.type(value)
        times = card.locator("summary").get_by_text("Times of the job")
        times.focus()
        page.keyboard.press("Enter")
        for label, value in TIMES.items():
            card.get_by_label(label).focus()
            page.keyboard.type(value)
        card.get_by_role("button", name="Forecast on spot").focus()
        page.keyboard.press("Enter")
        use = card.get_by_role("button", name="Use this: spot only")
        use.wait_for(timeout=60_000)
        use.focus()
        page.keyboard.press("Enter")
        card.get_by_text("The job has it now").wait_for()
        page.wait_for_function(  # the kernel's own lines
            "() => document.querySelector('.smtc-workbench .smtc-code').textContent"
            ".includes('max_wait=7000')"
        )
