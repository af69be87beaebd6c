"""Runs cells in JupyterLab and watches the page meanwhile."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from notebooks.benchmarks.views.page import Smoothness, begin, end
from tests.kit.browser.jupyter import Window, command

if TYPE_CHECKING:
    from collections.abc import Sequence

    from playwright.sync_api import Browser, Page

    from tests.kit.browser.jupyter import Server

_RESULT = "RESULT "
_LONGEST_MS = 90_000
_ALL_IN_VIEW = Window(height=1800)  # a chart of ours that nobody sees is not drawn
_OUTPUTS = """() => [...document.querySelectorAll('.jp-OutputArea-output pre')]
  .map(item => item.textContent).join('\\n')"""


@dataclass(frozen=True, kw_only=True)
class Seen:
    """What a scenario showed."""

    page: Smoothness
    """How the page ran while the last cell ran."""

    kernel: dict[str, Any]
    """What the last cell printed behind ``RESULT``."""

    rows: int | None
    """Rows that the charts of the page have taken in; None: no chart of ours is there."""


def run_scenario(
    server: Server, browser: Browser, name: str, sources: Sequence[str], *, shown: str
) -> Seen:
    """Run cells one by one; the page is watched while the last one runs.

    Args:
        server: Where the notebook runs.
        browser: Where it is shown.
        name: Of the notebook.
        sources: Cells. The last one prints ``RESULT`` and JSON at its end.
        shown: Selector of what must be on the page before the last cell runs.

    Raises:
        TimeoutError: A cell did not come to its end, or nothing was shown.
    """
    notebook = server.write(f"{name}.ipynb", sources)
    with server.lab(browser, notebook, window=_ALL_IN_VIEW) as page:
        for _ in sources[:-1]:
            command(page, "notebook:run-cell-and-select-next")
        page.wait_for_selector(shown, timeout=_LONGEST_MS)
        begin(page)
        command(page, "notebook:run-cell-and-select-next")
        # JupyterLab shows the cell that comes next
        page.locator(shown).first.scroll_into_view_if_needed()
        kernel = _result(page)
        smoothness = end(page)
        return Seen(page=smoothness, kernel=kernel, rows=_rows(page))


def _result(page: Page) -> dict[str, Any]:
    page.wait_for_function(
        f"() => ({_OUTPUTS})().includes({json.dumps(_RESULT)})", timeout=_LONGEST_MS
    )
    text: str = page.evaluate(_OUTPUTS)
    found: dict[str, Any] = json.loads(text.rpartition(_RESULT)[2].splitlines()[0])
    return found


def _rows(page: Page) -> int | None:
    """Return how many rows the charts on the page say that they have."""
    counts: list[str] = page.evaluate(
        "() => [...document.querySelectorAll('.smtc-chart')].map(c => c.dataset.rows ?? '0')"
    )
    return sum(int(count) for count in counts) if counts else None
