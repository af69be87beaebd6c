"""All clusters of the catalog, below the set-ups of the designer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from axe_playwright_python.sync_playwright import Axe

from smtc_lab.views.code.set_ups import first_jobs
from tests.browser.lab_kit import lab_page
from tests.kit.browser.jupyter import command
from tests.kit.calibrations import keep_calibration

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

    from tests.kit.browser.jupyter import Server

CHART = ".smtc-cluster-chart"


def types_in_last(page: Page) -> list[str]:
    fields = page.locator(".smtc-set-up").last.get_by_role("combobox", name="Instance type")
    return [field.input_value() for field in fields.all()]


def test_a_cluster_goes_into_a_set_up_by_keyboard_and_out_with_undo(
    server: Server, browser: Browser
) -> None:
    keep_calibration(first_jobs()[0], server.runs_root)

    with lab_page(server, browser) as page:
        command(page, "smtc-lab:open-designer")
        page.locator(f"{CHART} .smtc-plan-set-up").first.wait_for(timeout=60_000)
        before = types_in_last(page)
        page.locator(f"{CHART} .smtc-plan-point[tabindex='0']").focus()
        page.keyboard.press("ArrowRight")
        page.keyboard.press("Enter")
        page.locator(f"{CHART} .smtc-plan-chosen").first.wait_for()
        assert types_in_last(page) != before
        page.get_by_role("button", name="Undo").click()
        assert types_in_last(page) == before

        found = Axe().run(page, context=CHART).response["violations"]
        assert [rule["id"] for rule in found] == []
