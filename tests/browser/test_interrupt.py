"""A run whose instances are taken away by a button: from a widget, and from a server alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from axe_playwright_python.sync_playwright import Axe

import smtc_lab as lab
from smtc_lab.machine.home import HOME_VARIABLE
from smtc_lab.spec.spot import Market
from smtc_lab.views.widgets.run_monitor import RunMonitor
from tests.browser.lab_kit import Runs, lab_page, open_dashboard, show_runs
from tests.browser.lives_kit import await_state
from tests.kit.browser.plain_host import plain_host
from tests.kit.quick_script import QUICK_SCRIPT

if TYPE_CHECKING:
    from pathlib import Path

    import pytest
    from playwright.sync_api import Browser, Locator, Page

    from tests.kit.browser.jupyter import Server

RUN = ".smtc-run"
HEAD = ".smtc-run .smtc-monitor-head"
MARKET = Market(mean_wait_s=3)
PHONE = 360


def serious(page: Page) -> list[str]:
    """Return the rules of axe that the head of a run breaks badly."""
    found = Axe().run(page, context=HEAD).response["violations"]
    return [rule["id"] for rule in found if rule["impact"] in {"serious", "critical"}]


def interrupt_button(page: Page) -> Locator:
    return page.get_by_role("button", name="Interrupt now")


def test_a_key_takes_the_instances_away_and_the_run_goes_on(
    wheel: Path, browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert wheel.exists()  # with it the front end was built
    monkeypatch.setenv(HOME_VARIABLE, str(tmp_path))
    script = tmp_path / "train.py"
    script.write_text(QUICK_SCRIPT, encoding="utf-8")
    job = lab.TrainingJob(
        entry_point=str(script),
        cluster=lab.Cluster.parse("here@group=local:1"),
        max_steps=1_000_000,
        use_spot_instances=True,
        market=MARKET,
    )
    with plain_host() as host:
        run = lab.launch(job, detach=False)
        page = browser.new_page(viewport={"width": PHONE, "height": 900}, color_scheme="dark")
        try:
            page.goto(host.address_of(RunMonitor(run)))
            await_state(page, RUN, "Running")
            interrupt_button(page).focus()
            page.keyboard.press("Enter")
            page.keyboard.press("Enter")
            page.get_by_text("Interrupting …").first.wait_for()
            await_state(page, RUN, "Interrupted")
            assert interrupt_button(page).get_attribute("aria-disabled") == "true"
            assert page.evaluate("() => document.activeElement.textContent") == "Interrupt now"
            assert serious(page) == []
            assert page.evaluate("() => document.documentElement.scrollWidth") <= PHONE
            await_state(page, RUN, "Running")
            assert len(run.state.attempts) == 2
            page.get_by_text("Managed spot training savings").wait_for()
        finally:
            page.close()
            run.stop()


def test_without_a_kernel_the_server_takes_them_away(server: Server, browser: Browser) -> None:
    name = Runs(server).start(use_spot_instances=True, market=MARKET)

    with lab_page(server, browser) as page:
        show_runs(page)
        open_dashboard(page, name)
        await_state(page, RUN, "Running")
        interrupt_button(page).click()
        await_state(page, RUN, "Interrupted")
        page.locator(".jp-Smtc-row", has_text="Interrupted").wait_for()
        await_state(page, RUN, "Running")
        chart = page.get_by_role("figure", name="CPU").first
        chart.get_by_role("button", name="Show as a table").click()
        chart.get_by_role("row", name="waiting (not billed)").first.wait_for()
