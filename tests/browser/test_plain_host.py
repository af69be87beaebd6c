"""The widgets on a plain page, which stands for VS Code and Colab, which cannot be had here."""

from __future__ import annotations

import contextlib
import json
from typing import TYPE_CHECKING, Literal

import pytest
from axe_playwright_python.sync_playwright import Axe

from smtc_lab.launchers.run import Run
from smtc_lab.machine.home import HOME_VARIABLE
from smtc_lab.spec.cluster import Cluster
from smtc_lab.spec.job import TrainingJob
from smtc_lab.views.widgets.comparison_monitor import ComparisonMonitor
from smtc_lab.views.widgets.run_monitor import RunMonitor
from smtc_lab.views.widgets.workbench import Workbench
from tests.browser.lives_kit import await_state
from tests.kit.browser.plain_host import plain_host
from tests.kit.quick_script import QUICK_SCRIPT
from tests.kit.records import run_records
from tests.kit.run_folders import write_run_folder

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from anywidget import AnyWidget
    from playwright.sync_api import Browser, Page

    from tests.kit.browser.plain_host import PlainHost

Theme = Literal["dark", "light"]
VERDICT = "other against one: step times in the ratio of"


@pytest.fixture
def host(wheel: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[PlainHost]:
    assert wheel.exists()  # with it the front end was built
    monkeypatch.setenv(HOME_VARIABLE, str(tmp_path))
    with plain_host() as served:
        yield served


@pytest.fixture
def workbench(host: PlainHost, tmp_path: Path) -> Iterator[Workbench]:
    assert host.url
    script = tmp_path / "train.py"
    script.write_text(QUICK_SCRIPT, encoding="utf-8")
    jobs = [
        TrainingJob(
            entry_point=str(script),
            cluster=Cluster.parse(f"{name}@here=local:1"),
            max_steps=500,
        )
        for name in ("one", "other")
    ]
    shown = Workbench(jobs, rounds=1)
    yield shown
    if shown.comparison is not None:
        shown.comparison.stop()
    shown.close()


def ended_run(folder: Path) -> RunMonitor:
    run = run_records([0.4, *[0.2, 0.21] * 60])
    written = write_run_folder(folder, run)
    handle = {
        "launcher": "local",
        "job_name": written.job_name,
        "run_folder": str(written.path),
    }
    written.handle_file.write_text(json.dumps(handle), encoding="utf-8")
    return RunMonitor(Run.open(str(written.path)))


@contextlib.contextmanager
def shown(
    host: PlainHost, browser: Browser, widget: AnyWidget, *, theme: Theme = "light"
) -> Iterator[Page]:
    """Open the page of a widget, and check at the end that it asked and said nothing else."""
    asked: list[str] = []
    said: list[str] = []
    context = browser.new_context(color_scheme=theme)
    page = context.new_page()
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda told: said.append(told.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.goto(host.address_of(widget))
    try:
        yield page
        assert [url for url in asked if not url.startswith((host.url, "blob:", "data:"))] == []
        assert said == []
    finally:
        context.close()


def test_what_is_typed_into_the_form_is_the_models_value_and_pythons(
    host: PlainHost, browser: Browser, workbench: Workbench
) -> None:
    with shown(host, browser, workbench) as page:
        page.get_by_label("Training script").fill("/home/me/typed.py")
        code = page.locator(".smtc-workbench .smtc-code", has_text="/home/me/typed.py")
        code.first.wait_for(state="attached")  # what Python answers

        of_page = page.evaluate("() => window.model.get('value')")

    assert [job["entry_point"] for job in of_page] == ["/home/me/typed.py"] * 2
    assert workbench.value == of_page


def test_a_comparison_is_started_and_watched_to_its_end(
    host: PlainHost, browser: Browser, workbench: Workbench
) -> None:
    with shown(host, browser, workbench) as page:
        page.get_by_role("button", name="Run", exact=True).click()
        await_state(page, ".smtc-comparison", "Running")
        await_state(page, ".smtc-comparison", "Completed")
        assert VERDICT in page.locator(".smtc-verdict-sentence").inner_text()
        assert page.locator(".smtc-pictures figure").count() == 2
        chart = page.get_by_role("figure", name="Step time").first
        chart.locator("canvas").first.wait_for()
        chart.get_by_role("button", name="Show as a table").click()
        chart.get_by_role("row", name="other").wait_for()


def test_a_comparison_of_before_is_shown_with_its_charts(
    host: PlainHost, browser: Browser, workbench: Workbench
) -> None:
    kept = workbench.run()
    kept.wait(60)
    monitor = ComparisonMonitor(kept.name)

    with shown(host, browser, monitor) as page:
        page.locator(".smtc-comparison .smtc-chart canvas").first.wait_for()
        assert VERDICT in page.locator(".smtc-verdict-sentence").inner_text()

        state = page.locator(".smtc-comparison .smtc-badge").first.text_content()

    monitor.close()
    assert state == "Completed"


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_run_is_shown_in_colours_and_fonts_of_its_own(
    host: PlainHost, browser: Browser, tmp_path: Path, theme: Theme
) -> None:
    monitor = ended_run(tmp_path / "kept")
    with shown(host, browser, monitor, theme=theme) as page:
        page.locator(".smtc-run .smtc-chart canvas").first.wait_for()

        look = page.evaluate("""() => {
          const { color, fontFamily } = getComputedStyle(document.querySelector('.smtc-run'));
          const { backgroundColor } = getComputedStyle(document.querySelector('.smtc'));
          return [color, backgroundColor, fontFamily];
        }""")
        found = Axe().run(page).response["violations"]

    monitor.close()
    assert look == LOOKS[theme]
    assert found == []


LOOKS = {
    "light": ["rgb(31, 35, 40)", "rgba(0, 0, 0, 0)", "system-ui, sans-serif"],
    "dark": ["rgb(232, 234, 237)", "rgb(20, 23, 28)", "system-ui, sans-serif"],
}
"""Ink, paper and font of each theme; on a light page the paper is the page's."""


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_in_the_workbench(
    host: PlainHost, browser: Browser, workbench: Workbench, theme: Theme
) -> None:
    with shown(host, browser, workbench, theme=theme) as page:
        page.get_by_role("button", name="Run", exact=True, disabled=False).wait_for()

        found = Axe().run(page).response["violations"]

    assert [
        (rule["id"], [node["html"][:160] for node in rule["nodes"]][:3]) for rule in found
    ] == []
