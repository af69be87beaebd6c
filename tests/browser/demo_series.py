"""Makes the series of pictures of the workbench: one story, calibrated and run for real.

python -m tests.browser.demo_series notebooks/results/demo [HOME]

HOME is an empty folder that the pictures name, by default a temporary one. Takes about 8
minutes on two cores with nothing else to do.
"""

from __future__ import annotations

import contextlib
import io
import json
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from PIL import Image

from tests.browser.lab_kit import lab_page, language_pack, open_dashboard, show_runs
from tests.browser.lab_picture import LONGEST_MS, NUM_COLORS, QUIET
from tests.browser.wheel_env import built_wheel, wheel_environment
from tests.kit.browser.chromium import running_browser
from tests.kit.browser.jupyter import Window, command, running_server

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from playwright.sync_api import Browser, Page

    from tests.kit.browser.jupyter import Server

WIDE = Window(width=1280, height=960)
NARROW = Window(width=360, height=800)
ENLARGED = Window(width=1280, height=960, zoom=2)
CALIBRATED_MS = 600_000
_THEME = "theme => window.jupyterapp.commands.execute('apputils:change-theme', { theme })"


def main(folder: Path, given: Path | None = None) -> None:
    """Calibrate and compare the demo in JupyterLab, and write what is seen."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as place, running_browser() as browser:
        home = given or Path(place)
        with _server(home, QUIET) as server:
            name = _story(server, browser, folder)
            _others(server, browser, name, folder)
        german = {"@jupyterlab/translation-extension:plugin": {"locale": "de_DE"}}
        language_pack(home)
        with (
            _server(home, {**QUIET, **german}) as server,
            _result(server, browser, name, WIDE) as page,
        ):
            keep(page, folder / "done_german.png")


def _story(server: Server, browser: Browser, folder: Path) -> str:
    """Design, calibrate, run and end; return the name of the comparison."""
    with lab_page(server, browser, window=WIDE) as page:
        command(page, "smtc-lab:open-designer")
        command(page, "application:toggle-left-area")
        page.get_by_role("button", name="Choose …").click()
        page.locator(".smtc-scripts .smtc-folder").wait_for()
        keep(page, folder / "choose.png")
        page.keyboard.press("Escape")
        page.get_by_role("button", name="Calibrate", exact=True).click()
        page.locator(".smtc-foreseen .smtc-figure").first.wait_for(timeout=CALIBRATED_MS)
        page.get_by_role("button", name="Stop calibrating").wait_for(state="hidden")
        both(page, folder, "design")
        page.get_by_role("button", name="Run", exact=True).click()
        page.get_by_text("after 1 of 3 rounds").first.wait_for(timeout=LONGEST_MS)
        page.get_by_text("round 2 of 3, step 1").first.wait_for(timeout=LONGEST_MS)
        both(page, folder, "live")
        page.locator(".smtc-comparison .smtc-state-completed").wait_for(timeout=LONGEST_MS)
        both(page, folder, "done")
        return page.locator(".smtc-comparison h3").text_content() or ""


def _others(server: Server, browser: Browser, name: str, folder: Path) -> None:
    with _result(server, browser, name, NARROW) as page:
        keep(page, folder / "done_360px.png")
    with _result(server, browser, name, ENLARGED) as page:
        keep(page, folder / "done_200_percent.png")
    with _result(server, browser, name, WIDE) as page:
        page.emulate_media(forced_colors="active")
        keep(page, folder / "done_high_contrast.png")


@contextlib.contextmanager
def _result(server: Server, browser: Browser, name: str, window: Window) -> Iterator[Page]:
    with lab_page(server, browser, window=window) as page:
        show_runs(page)
        open_dashboard(page, name, "comparison")
        command(page, "application:toggle-left-area")
        page.locator(".jp-Smtc-main .smtc-pictures figure").first.wait_for()
        page.wait_for_function(
            "() => !document.querySelector('.jp-Smtc-main .smtc-pictures .smtc-pale')"
        )
        numbers = page.locator(".jp-Smtc-main .smtc-pictures").filter(has_text="$")
        numbers.wait_for()  # not the charts: they are drawn when they are seen
        yield page


@contextlib.contextmanager
def _server(home: Path, settings: Mapping[str, object]) -> Iterator[Server]:
    path = home / "config" / "labconfig" / "default_setting_overrides.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(settings), encoding="utf-8")
    (home / "notebooks").mkdir(exist_ok=True)
    python = home / "lab" / "bin" / "python"
    if not python.exists():
        python = wheel_environment(built_wheel(home), home / "lab")
    with running_server(python, home / "notebooks", home=home) as server:
        yield server


def both(page: Page, folder: Path, name: str) -> None:
    """Write a picture of each theme."""
    for theme, path in (("Dark", f"{name}_dark.png"), ("Light", f"{name}.png")):
        page.evaluate(_THEME, f"JupyterLab {theme}")
        is_light = str(theme == "Light").lower()
        page.wait_for_selector(f"body[data-jp-theme-light={is_light}]", state="attached")
        keep(page, folder / path)


def keep(page: Page, path: Path) -> None:
    """Write what is in the window, with few colours."""
    page.wait_for_timeout(1000)  # charts are drawn when they are seen
    image = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    image.quantize(NUM_COLORS, dither=Image.Dither.NONE).save(path, optimize=True)


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
