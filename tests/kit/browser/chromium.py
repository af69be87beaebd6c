"""The Chromium that tests and benchmarks drive."""

from __future__ import annotations

import contextlib
import os
import shutil
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser

CHROMIUM_VARIABLE = "SMTC_CHROMIUM"
"""Environment variable with the path of the browser, where it is not found by its name."""

_NAMES = ("chromium", "chromium-browser", "google-chrome")
_FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


def chromium() -> str | None:
    """Return the path of a Chromium, or None: there is none."""
    given = os.environ.get(CHROMIUM_VARIABLE)
    return given or next(filter(None, map(shutil.which, _NAMES)), None)


@contextlib.contextmanager
def running_browser() -> Iterator[Browser]:
    """Run a headless Chromium until the block ends.

    Raises:
        FileNotFoundError: There is no Chromium.
    """
    path = chromium()
    if path is None:
        raise FileNotFoundError(
            "There is no Chromium on PATH. Install one (Debian: apt-get install chromium), or "
            f"set {CHROMIUM_VARIABLE} to its path."
        )
    from playwright.sync_api import sync_playwright  # noqa: PLC0415  tests and benchmarks only

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(_FLAGS))
        try:
            yield browser
        finally:
            browser.close()
