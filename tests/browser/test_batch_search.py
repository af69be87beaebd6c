"""A search for a batch size, as JupyterLab shows it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from smtc_lab.machine.home import HOME_VARIABLE
from smtc_lab.study.batch.size import find_batch_size
from smtc_lab.study.folder import studies_root
from tests.browser.lab_kit import lab_page, show_runs

if TYPE_CHECKING:
    import pytest
    from playwright.sync_api import Browser

    from tests.kit.browser.jupyter import Server

SCRIPT = """
import sys
import time
from smtc_lab.runtime.instance_runtime import instance_runtime

batch_size = int(sys.argv[sys.argv.index("--batch_size") + 1])
timer = instance_runtime().timer
while not timer.is_done:
    timer.ask()
    time.sleep(0.01)
    timer.got(min(batch_size, 5))
    timer.end()
"""


def test_a_search_is_shown_by_what_it_has_tried(
    server: Server, browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(HOME_VARIABLE, str(server.runs_root.parent))
    script = server.root / "batches.py"
    script.write_text(SCRIPT, encoding="utf-8")

    find_batch_size(script, backends=["eager"], start=4, steps=4)

    (study,) = studies_root(server.runs_root).iterdir()
    with lab_page(server, browser) as page:
        show_runs(page)
        page.locator(".jp-Smtc-row", has_text=study.name).dblclick()
        shown = page.locator(".jp-Smtc-main .smtc-study")
        final = shown.locator(".smtc-verdict-final", has_text="the dataset has only 5 samples")
        final.wait_for()
        told = shown.inner_text()

    assert "largest batch that fits is 4" in told
    assert "does not fit" not in told
    assert "parity" not in told
    assert "No values yet" not in told
