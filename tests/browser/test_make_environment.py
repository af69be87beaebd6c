"""XLA's environment, made by a press of a button. It installs a torch of its own: for soaks."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.browser.lab_kit import lab_page
from tests.kit.browser.jupyter import command, running_server

if TYPE_CHECKING:
    from playwright.sync_api import Browser

MADE_MS = 1_500_000


@pytest.mark.soak
@pytest.mark.timeout(1_800)
def test_a_press_makes_the_environment_of_xla(
    lab_python: Path, browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = os.environ.get("UV_CACHE_DIR", Path.home() / ".cache" / "uv")
    monkeypatch.setenv("UV_CACHE_DIR", str(cache))  # the server has a home of its own
    monkeypatch.setenv("SMTC_LAB_ENVIRONMENTS", str(tmp_path / "environments"))
    (tmp_path / "notebooks").mkdir()

    with (
        running_server(lab_python, tmp_path / "notebooks", home=tmp_path) as server,
        lab_page(server, browser) as page,
    ):
        command(page, "smtc-lab:open-designer")
        page.get_by_role("radio", name="Form").check()
        settings = page.locator(".smtc-set-up").first
        settings.locator("summary", has_text="Compiler").first.click()
        settings.get_by_label("Compiler", exact=True).select_option("xla")
        settings.get_by_role("button", name="Make it").click()
        settings.get_by_role("progressbar", name="Making the environment").wait_for()
        settings.get_by_role("progressbar").wait_for(state="hidden", timeout=MADE_MS)
        assert settings.get_by_role("button", name="Make it").is_hidden()
        page.get_by_role("button", name="Run", exact=True, disabled=False).wait_for()

    made = tmp_path / "environments" / "xla" / "venv" / "bin" / "python"
    found = subprocess.run(
        [made, "-c", "import torch_xla; print(torch_xla.__version__)"],
        check=True,
        capture_output=True,
        text=True,
    )
    assert found.stdout.startswith("2.9")
