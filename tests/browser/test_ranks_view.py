"""A run of several trainers, one of them slow: live, saved, on a small page."""

from __future__ import annotations

import json
import zipfile
from typing import TYPE_CHECKING

import pytest
from axe_playwright_python.sync_playwright import Axe

import smtc_lab as lab
from smtc_lab.launchers.run import Run
from smtc_lab.spec.distribution import Distribution
from tests.browser.lab_kit import Runs, lab_page, show_runs
from tests.kit.browser.jupyter import command
from tests.kit.records import run_records, step_record
from tests.kit.run_folders import write_run_folder

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Browser, Locator, Page

    from tests.kit.browser.jupyter import Server

SCRIPT = """
import os
import time
from smtc_lab.runtime.instance_runtime import instance_runtime

timer = instance_runtime().timer
while not timer.is_done:
    timer.ask()
    time.sleep(0.02 if os.environ["RANK"] == "1" else 0.01)
    timer.got(8)
    timer.end()
"""
MAP = ".smtc-run .smtc-rank-map"
PHONE = 360
MANY = 64
SLOW = 5


def serious(page: Page) -> list[str]:
    """Return the rules of axe that the map breaks badly."""
    found = Axe().run(page, context=MAP).response["violations"]
    return [rule["id"] for rule in found if rule["impact"] in {"serious", "critical"}]


def fits(shown: Locator) -> bool:
    """Return whether nothing reaches over the right edge."""
    held: bool = shown.evaluate("el => el.scrollWidth <= el.clientWidth")
    return held


def test_the_slow_trainer_of_several_stands_out(server: Server, browser: Browser) -> None:
    (server.root / "ranked.py").write_text(SCRIPT, encoding="utf-8")
    name = Runs(server).start(entry_point="ranked.py", distribution=Distribution(data=3))

    with lab_page(server, browser) as page:
        show_runs(page)
        page.locator(".jp-Smtc-row", has_text=name).dblclick()
        shown = page.locator(MAP)
        shown.locator("canvas").wait_for(timeout=60_000)
        shown.get_by_text("Rank 1 on algo-1 works").wait_for(timeout=60_000)
        facts = page.locator(".smtc-run .smtc-facts").first.inner_text()
        assert "each with the whole model" in facts
        shown.locator(".smtc-chart-stage").focus()
        page.keyboard.press("End")
        assert "rank 1, algo-1 100 %" in shown.locator("[role=status]").inner_text()
        shown.get_by_role("button", name="Table").click()
        shown.locator("table th", has_text="rank 2, algo-1").wait_for()
        shown.get_by_role("button", name="Table").click()
        assert serious(page) == []
        command(page, "application:toggle-left-area")
        page.set_viewport_size({"width": PHONE + 80, "height": 800})  # the lab's own beside
        page.wait_for_function(f"() => document.querySelector('{MAP}').clientWidth < 380")
        assert fits(shown)


@pytest.fixture
def shared(wheel: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Share a run of 64 trainers, of which the sixth works throughout each step."""
    cluster = f"dnn_group=ml.p3.2xlarge:{MANY}"
    run = run_records([], cluster=cluster, state="Completed")
    run.steps.clear()
    for rank in range(MANY):
        wait_s = 0.0 if rank == SLOW else 0.06
        run.steps[f"algo-{rank + 1}-rank{rank}"] = [
            step_record(
                step=step,
                step_time_s=0.2,
                data_wait_s=0.01,
                exposed_comm_s=0.01,
                rank_wait_s=wait_s,
            )
            for step in range(200)
        ]
    written = write_run_folder(tmp_path / "runs", run)
    handle = {
        "launcher": "local",
        "job_name": written.job_name,
        "run_folder": str(written.path),
    }
    written.handle_file.write_text(json.dumps(handle), encoding="utf-8")
    with zipfile.ZipFile(wheel) as archive:
        monkeypatch.setattr(
            "smtc_lab.views.share.page.built_front_end",
            lambda name: archive.read(f"smtc_lab/views/static/{name}").decode(),
        )
        return lab.share(Run.open(str(written.path)), tmp_path / "run.html")


def test_a_saved_run_of_many_trainers_shows_them_on_a_phone(
    browser: Browser, shared: Path
) -> None:
    page = browser.new_page(viewport={"width": PHONE, "height": 800}, color_scheme="dark")
    try:
        page.goto(shared.as_uri())
        shown = page.locator(MAP)
        shown.get_by_text("Rank 5 on algo-6 works 46.2 % longer").wait_for()
        shown.scroll_into_view_if_needed()  # what nobody sees is not drawn
        shown.locator("canvas").wait_for()
        shown.locator(".smtc-chart-stage").focus()
        page.keyboard.press("End")
        said = shown.locator("[role=status]").inner_text()
        assert "rank 5, algo-6 95 %" in said
        assert "53 others 65 % to 65 %" in said
        assert serious(page) == []
        assert fits(page.locator("body"))
    finally:
        page.close()
