"""A comparison that was started in a terminal, as JupyterLab shows and stops it."""

from __future__ import annotations

import os
import subprocess
import sysconfig
from pathlib import Path
from typing import TYPE_CHECKING

from tests.browser.lab_kit import Runs, lab_page, show_runs

if TYPE_CHECKING:
    from playwright.sync_api import Browser

    from tests.kit.browser.jupyter import Server

PROGRAM = Path(sysconfig.get_path("scripts")) / "smtc-lab"
CHART = ".smtc-comparison .smtc-chart canvas"


def test_it_is_found_followed_and_stopped(server: Server, browser: Browser) -> None:
    runs = Runs(server)
    script = server.root / runs.script()
    clusters = ("--cluster", "one@here=local:1", "--cluster", "two@here=local:1")
    with subprocess.Popen(
        [PROGRAM, "compare", *clusters, "--steps", "1000000", "--no-emulation", script],
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "SMTC_LAB_HOME": str(server.root.parent / "smtc_lab")},
    ) as terminal:
        with lab_page(server, browser) as page:
            show_runs(page)
            row = page.locator(".jp-Smtc-row", has_text="-comparison-")
            launch = page.locator(
                ".jp-Smtc-row[data-is-launch]:not([hidden])", has_text="one, round 1"
            )
            launch.wait_for()
            row.dblclick()
            page.wait_for_selector(CHART)
            page.get_by_text("launch 1 of 6: one").first.wait_for()
            page.locator(".jp-Smtc-price", has_text="1 running").wait_for()
            page.locator(".jp-Smtc-actions button", has_text="Stop").click()
            page.locator(".jp-Dialog button", has_text="Stop it").click()
            page.locator(".jp-Smtc-main .smtc-badge", has_text="Stopped").wait_for()
            launch.wait_for(state="hidden")
            row.locator(".jp-Smtc-row-toggle").click()
            launch.wait_for()
        said = terminal.communicate()[1]

    assert terminal.returncode == 1
    assert said.splitlines()[-1] == "Error: Launch 1 of 6 (one) was stopped."
