"""A plan in a notebook: sorted, seen as a whole job, walked by keys, dark, and on a phone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from axe_playwright_python.sync_playwright import Axe

from tests.kit.browser.jupyter import command

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, Locator, Page

    from tests.kit.browser.jupyter import Server

PLAN = """
import smtc_lab as lab
from tests.kit.calibrations import PATHS, calibration, worker_point
heavy = calibration(worker_points=tuple(worker_point(0.004, path=path) for path in PATHS))
plan = lab.plan(heavy, steps=5000, budget_usd_per_hour=12, families=["p3", "c5", "g5"])
lab.PlanView(plan)
"""
PHONE = 360


@pytest.fixture(scope="module")
def page(server: Server, browser: Browser) -> Iterator[Page]:
    notebook = server.write("plan.ipynb", [PLAN])
    with server.lab(browser, notebook) as opened:
        command(opened, "application:toggle-left-area")
        command(opened, "notebook:run-all-cells")
        opened.wait_for_selector(".smtc-plan-point", timeout=60_000)
        yield opened


@pytest.fixture
def plan(page: Page) -> Locator:
    return page.locator(".smtc-plan")


def test_a_head_of_the_table_sorts_it_back_and_forth(plan: Locator) -> None:
    head = plan.locator("thead").get_by_role("button", name="time per step", exact=True)
    rows = plan.locator("tbody tr")

    head.click()
    rising = rows.all_inner_texts()
    head.click()

    assert rows.all_inner_texts() == rising[::-1]
    sorted_by = plan.locator("th[aria-sort=descending]")
    assert sorted_by.inner_text().startswith("time per step")
    assert head.evaluate("button => button === document.activeElement")


def test_the_axes_change_to_the_whole_job_and_back_with_the_line_of_the_budget(
    plan: Locator,
) -> None:
    chart, limits = plan.locator(".smtc-plan-chart > svg"), plan.locator(".smtc-plan-limits")
    toggles = [plan.get_by_role("button", name=f"{what} of") for what in ("Time", "Cost")]

    for toggle in toggles:
        toggle.click()
    of_job = chart.get_attribute("aria-label") or ""
    line = limits.text_content()
    for toggle in toggles:
        toggle.click()

    assert "USD per job" in of_job
    assert "time of 5,000 steps" in of_job
    assert line == limits.text_content() == "budget: $12.00 an hour"
    assert "time per step" in (chart.get_attribute("aria-label") or "")


def test_arrow_keys_walk_through_the_clusters_and_enter_explains_one(
    page: Page, plan: Locator
) -> None:
    title = plan.locator("h4")
    before = title.inner_text()

    plan.locator(".smtc-plan-point[tabindex='0']").focus()
    page.keyboard.press("ArrowLeft")
    peeked = title.inner_text()
    page.keyboard.press("Enter")

    # the kernel tells why, and how it is launched
    plan.locator(".smtc-plan-detail code", has_text="lab.TrainingJob(").wait_for(
        state="attached"
    )
    assert peeked == title.inner_text() != before
    focused = page.locator(":focus")
    assert focused.get_attribute("aria-pressed") == "true"
    assert peeked in (focused.get_attribute("aria-label") or "")


def test_axe_finds_nothing_serious_on_a_dark_page(page: Page) -> None:
    page.evaluate(
        "() => window.jupyterapp.commands.execute("
        "'apputils:change-theme', { theme: 'JupyterLab Dark' })"
    )
    page.wait_for_selector("body[data-jp-theme-light='false']", state="attached")

    found = Axe().run(page, context=".smtc-plan").response["violations"]

    serious = [rule for rule in found if rule["impact"] in {"serious", "critical"}]
    assert [(rule["id"], rule["nodes"][0]["html"][:120]) for rule in serious] == []


def test_nothing_is_cut_off_on_a_phone(page: Page, plan: Locator) -> None:
    page.set_viewport_size({"width": PHONE, "height": 740})
    page.wait_for_function(
        "() => document.querySelector('.smtc-plan-chart > svg').clientWidth < 360"
    )

    too_wide = plan.evaluate(
        """plan => [plan, ...plan.querySelectorAll('*')]
          .filter(part => part.scrollWidth > part.clientWidth + 1 && part.clientWidth > 0)
          .filter(part => !part.closest('.smtc-scroll, pre, svg'))
          .map(part => part.className)"""
    )

    assert too_wide == []
