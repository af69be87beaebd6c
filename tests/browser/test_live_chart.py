from __future__ import annotations

from typing import TYPE_CHECKING

from tests.kit.browser.jupyter import command

if TYPE_CHECKING:
    from playwright.sync_api import Browser

    from tests.kit.browser.jupyter import Server

CHART = """
from smtc_lab.views.widgets.live_chart import LiveChart
chart = LiveChart(["loss"], title="Loss")
chart
"""


def test_a_live_chart_shows_rows_that_were_pushed_before_it_was_there(
    server: Server, browser: Browser
) -> None:
    notebook = server.write("chart.ipynb", [CHART, "chart.extend(range(500), range(500))"])

    with server.lab(browser, notebook) as page:
        command(page, "notebook:run-all-cells")
        page.wait_for_selector(".smtc-chart canvas")
