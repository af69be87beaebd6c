"""A notebook of ours that is opened is not changed by that alone."""

from __future__ import annotations

import json
import platform
from pathlib import Path
from typing import TYPE_CHECKING

from tests.kit.browser.jupyter import wait_for_kernel

if TYPE_CHECKING:
    from playwright.sync_api import Browser

    from tests.kit.browser.jupyter import Server

TOUR = Path(__file__).parents[2] / "notebooks" / "tour.ipynb"
IS_DIRTY = "() => window.jupyterapp.shell.currentWidget.model.dirty"


def test_opening_and_saving_the_tour_leaves_it_as_it_is(
    server: Server, browser: Browser
) -> None:
    notebook = server.root / "tour.ipynb"
    kept = json.loads(TOUR.read_text(encoding="utf-8"))
    kept["metadata"]["language_info"]["version"] = platform.python_version()
    text = json.dumps(kept, indent=1, ensure_ascii=False) + "\n"
    notebook.write_text(text, encoding="utf-8")

    with server.lab(browser, notebook) as page:
        wait_for_kernel(page)
        page.wait_for_function(
            "() => window.jupyterapp.shell.currentWidget.model.getMetadata('language_info')"
            "?.pygments_lexer"
        )
        is_dirty = page.evaluate(IS_DIRTY)
        page.evaluate("() => window.jupyterapp.commands.execute('docmanager:save')")

    assert not is_dirty
    assert json.loads(notebook.read_text(encoding="utf-8")) == kept
